"""Setting up a repository for `check` and pre-commit."""
