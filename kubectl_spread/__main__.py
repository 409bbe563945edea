"""The program: `kubectl-spread`, `python -m kubectl_spread`; as `kubectl_complete-spread` it completes for kubectl."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and leave.

    A process this short has nothing to gain from collecting garbage or from freeing, at its end, what the system
    takes back anyway: together a sixth of its time (mypy's hard_exit does the same).
    """
    gc.disable()
    try:  # The imports follow gc.disable, as they allocate most.
        if os.path.basename(sys.argv[0]).startswith("kubectl_complete"):
            from kubectl_spread.cli import complete

            complete.main()
        from kubectl_spread.cli.main import run

        code = run()
    except KeyboardInterrupt:  # while a module is imported; `run` handles the others
        print("\ninterrupted", file=sys.stderr)  # noqa: T201 (click may not be imported)
        code = 130
    with contextlib.suppress(OSError, AttributeError):  # the write error was reported already; a closed stream is None
        sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
