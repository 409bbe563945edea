"""The terminal: its width, standard error, and progress."""
