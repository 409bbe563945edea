"""All rules: their table, their pages, and when each can fire."""
