"""Commands of kubectl as a user types them, and the steps of the timeline that they stand for; no click, no I/O."""
