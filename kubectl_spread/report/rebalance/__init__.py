"""Plans of evictions for people and for programs."""
