"""Selection of rules to run and of findings to show."""
