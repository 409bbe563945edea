"""Controllers, kubelets, the API server and the scheduler over time, slowly: plain dicts, one step at a time.

A `World` is a moment of a cluster. Every component has a function that lists what it can do next; whatever is left to
chance (ties of the scheduler, ties among the pods to delete, who acts first) is a list of worlds. `explore` walks
through them. Nothing here is shared with the program under test.
"""
