"""Initial states, made from cluster facts."""
