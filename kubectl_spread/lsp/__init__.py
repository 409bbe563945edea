"""The language server: what `check` finds, in an editor. Only `server` and what it asks know the protocol."""
