"""Reading of messages that the scheduler and other components write about pods."""
