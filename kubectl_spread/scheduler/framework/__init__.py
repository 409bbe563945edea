"""The scheduling framework: statuses, the plugin protocol, the diagnosis."""
