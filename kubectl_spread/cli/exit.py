"""Exit codes."""

from __future__ import annotations


class Exit:
    """Exit codes of the program; no enum, as `Exit.CLEAN` is the number itself."""

    CLEAN = 0  # nothing to report
    FINDINGS = 1  # findings at or above --fail-on, or a pod is predicted Pending
    USAGE = 2  # wrong usage
    UNREADABLE = 3  # an input could not be read
    BUG = 70  # ours
    INTERRUPTED = 130
    READER_GONE = 141  # the reader of the output closed the pipe; shells have this code for SIGPIPE, too
