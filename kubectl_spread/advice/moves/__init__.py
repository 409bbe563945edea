"""Proposals of changes. Each module proposes changes of one kind; `judge` decides whether they help."""
