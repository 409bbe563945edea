"""One module a rule about workloads: its docstring is its documentation, `check` finds what it says."""
