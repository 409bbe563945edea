"""`whenUnsatisfiable` is missing; it has no default.

The documentation speaks of DoNotSchedule as the default, but nothing sets it, and the API server refuses the empty
value.

Write `DoNotSchedule` (a rule: the pod waits) or `ScheduleAnyway` (a preference).
"""
