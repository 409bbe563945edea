"""Why no node fits, as text."""
