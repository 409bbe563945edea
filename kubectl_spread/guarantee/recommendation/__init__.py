"""Recommended constraints for a policy."""
