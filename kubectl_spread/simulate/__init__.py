"""What happens over time."""
