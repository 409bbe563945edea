"""HTML pages: one drawing record, one base template, and a module for each command."""
