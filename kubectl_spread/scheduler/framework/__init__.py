"""The scheduling framework: the interface of plugins with its statuses, profiles, and numbers of nodes."""
