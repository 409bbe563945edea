"""The program of the archives for krew, which PyInstaller starts."""

import os
import sys


def _restore(name: str) -> None:
    """Undo what PyInstaller did to a variable, because kubectl and credential plugins have their own libraries."""
    before = os.environ.pop(f"{name}_ORIG", None)
    if before is not None:
        os.environ[name] = before
    elif name in os.environ:
        del os.environ[name]


if getattr(sys, "frozen", False):
    for variable in ("LD_LIBRARY_PATH", "LIBPATH"):
        _restore(variable)

    sys.path.append(os.path.join(getattr(sys, "_MEIPASS", ""), "packages.zip"))

from kubectl_spread.__main__ import main  # noqa: E402 (after the variables)

main()
