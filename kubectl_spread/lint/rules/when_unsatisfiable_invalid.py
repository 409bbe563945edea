"""`whenUnsatisfiable` is neither DoNotSchedule nor ScheduleAnyway.

The API server refuses any other value, and another case of letters is another value.

Write one of the two.
"""
