"""kubectl spread: check, dry-run and explain pod topology spread constraints."""

__version__ = "0.1.0"
