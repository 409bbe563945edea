"""States of a group: the pods on each node, and what makes two states equal."""
