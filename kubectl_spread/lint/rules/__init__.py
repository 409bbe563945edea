"""One module a rule, named for the fault: its docstring is its documentation.

Rules about workloads have a function `check` that finds what the docstring says. What the API server refuses is found
where objects are read, in `lint.check_source`.
"""
