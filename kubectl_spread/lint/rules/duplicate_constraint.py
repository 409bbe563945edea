"""Two constraints share `topologyKey` and `whenUnsatisfiable`.

The API server refuses the second, even where their selectors differ.

Merge the two; a DoNotSchedule and a ScheduleAnyway constraint may share a key.
"""
