"""Starts kubectl spread from an unpacked archive, with the libraries that suit the Python that runs this.

Any Python may come here first, so this is written for all of them; one that cannot load the archive's native modules
hands over to another on PATH. On Windows this is also the `__main__` of the .exe.
"""

import os
import sys

PLATFORM = "@platform@"
MINORS = ()  # of Python 3, with wheels in the archive
_SUFFIX = "import importlib.machinery as m; print(m.EXTENSION_SUFFIXES[0])"


def main():
    here = os.path.dirname(os.path.realpath(__file__))
    chosen = os.environ.get("KUBECTL_SPREAD_PYTHON")
    if os.path.isfile(here):  # __main__ of an .exe, which always takes python
        here = os.path.dirname(here)
        sys.argv.insert(0, sys.argv[0])
        if chosen:
            _hand_over([chosen], here)
    if not _suits(here, _own_suffix()):
        for command in [] if chosen else _others():
            if _suits(here, _suffix_of(command)):
                _hand_over(command, here)
        sys.exit(_complaint())
    _run(here)


def _run(here):
    del sys.argv[0]
    own = [minor for minor in _layers(here) if minor <= sys.version_info[1]][-1:]
    sys.path[:0] = [os.path.join(here, "lib-3.%d" % minor) for minor in own] + [os.path.join(here, "lib")]
    from kubectl_spread.__main__ import main as program

    program()


def _layers(here):
    """From which minor version on a folder holds the packages that are not the same for all."""
    prefix = "lib-3."
    return sorted(int(name[len(prefix) :]) for name in os.listdir(here) if name.startswith(prefix))


def _own_suffix():
    if sys.version_info < (3, 10):
        return None
    if sys.platform == "darwin" and os.uname()[4] != PLATFORM.split("-")[1].replace("amd64", "x86_64"):
        return None  # translated: the names of its modules do not show the processor
    from importlib.machinery import EXTENSION_SUFFIXES

    return EXTENSION_SUFFIXES[0]


def _suits(here, suffix):
    """Whether the archive has native modules of that name: it has the version, the platform and the C library in it."""
    return bool(suffix) and os.path.exists(os.path.join(here, "lib", "_ruamel_yaml" + suffix))


def _others():
    if os.name == "nt":
        return [["py", "-3.%d" % minor] for minor in reversed(MINORS)]
    return [["python3.%d" % minor] for minor in reversed(MINORS)]


def _suffix_of(command):
    import subprocess

    try:
        asked = subprocess.Popen(command + ["-I", "-S", "-c", _SUFFIX], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return asked.communicate()[0].decode("ascii", "replace").strip()
    except OSError:
        return None


def _hand_over(command, here):
    arguments = command + ["-I", "-S", os.path.join(here, "launch.py")] + sys.argv[1:]
    if os.name == "nt":  # where exec leaves the console to two programs
        import subprocess

        sys.exit(subprocess.call(arguments))
    os.execvp(arguments[0], arguments)


def _complaint():
    sys.stderr.write(
        "error: kubectl spread was packed for %s and CPython 3.%d to 3.%d; this is Python %s at %s\n"
        "hint: set KUBECTL_SPREAD_PYTHON to another python, or `pip install kubectl-spread`\n"
        % (PLATFORM, MINORS[0], MINORS[-1], sys.version.split()[0], sys.executable)
    )
    return 2


if __name__ == "__main__":
    main()
