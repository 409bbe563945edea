"""The language server: findings of `check` in an editor."""
