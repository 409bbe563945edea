"""The operations of the program as functions, with a module for each command: check, explain, simulate, status, ...

```python
from kubectl_spread.operations import check

result = check.check_files(check.CheckRequest(paths=("deploy/",), recursive=True))
```

Each function takes one request and returns one result, both named tuples. If there is no result it raises a
`kubectl_spread.errors.SpreadError`.
"""
