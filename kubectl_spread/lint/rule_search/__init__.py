"""Search for rules by the words of a message."""
