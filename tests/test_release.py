"""What krew installs: the manifest by its rules, an archive unpacked as krew does and run on a bare Python."""

from __future__ import annotations

import copy
import hashlib
import os
import platform
import shutil
import subprocess
import sys
from configparser import ConfigParser
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from ruamel.yaml import YAML

from kubectl_spread import __version__
from release import build
from tests import krew

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
POSIX_ONLY = pytest.mark.skipif(os.name == "nt", reason="the .exe is what starts it there")
MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
HOST = f"{platform.system().lower()}-{MACHINES.get(platform.machine().lower())}"
OWN = sys.version_info.minor


def manifest(text: str) -> dict[str, Any]:
    loaded: dict[str, Any] = YAML(typ="safe").load(text)
    return loaded


CHECKED_IN = manifest((ROOT / "plugin.yaml").read_text(encoding="utf-8"))


# The manifest


def test_the_manifest_follows_krews_rules_and_has_our_version() -> None:
    assert [] == krew.problems(CHECKED_IN)
    assert f"v{__version__}" == CHECKED_IN["spec"]["version"]


BREAKS = {
    "apiVersion": ("apiVersion", "krew.googlecontainertools.github.com/v1alpha3"),
    "kind": ("kind", "plugin"),
    "name": ("metadata", {"name": "com1"}),
    "version": ("spec.version", "v01.2.3"),
    "shortDescription": ("spec.shortDescription", "two\nlines"),
    "description": ("spec.description", "x" * 81),
    "homepage": ("spec.homepage", ""),
    "platforms": ("spec.platforms", []),
    "platforms[0].uri": ("spec.platforms.0.uri", "https://example.com/archive.tar.xz"),
    "platforms[0].sha256": ("spec.platforms.0.sha256", "A" * 64),
    "platforms[0].bin": ("spec.platforms.0.bin", "../kubectl-spread"),
    "platforms[0].files": ("spec.platforms.0.files", [{"from": "*", "to": "./"}]),
    "platforms[0].selector": ("spec.platforms.0.selector", {"matchLabels": {"os": "linux", "libc": "musl"}}),
    "platforms[0].system": ("spec.platforms.0.selector", {"matchLabels": {"os": "linux", "arch": "s390x"}}),
    "two platforms match the same system": ("spec.platforms.0.selector", {"matchLabels": {"os": "darwin"}}),
}


@pytest.mark.parametrize("expected", BREAKS)
def test_each_rule_of_krew_is_looked_at(expected: str) -> None:
    route, value = BREAKS[expected]
    broken = copy.deepcopy(CHECKED_IN)
    *parents, last = [int(word) if word.isdigit() else word for word in route.split(".")]
    place: Any = broken
    for word in parents:
        place = place[word]
    place[last] = value

    assert expected in krew.problems(broken)


def test_the_manifest_is_the_template_filled_in() -> None:
    """Each platform that is built has its archive and checksum there; the checksums are those of a release."""
    spec = CHECKED_IN["spec"]
    sums = {entry["uri"].rpartition("/")[2]: entry["sha256"] for entry in spec["platforms"]}
    rendered = build.plugin_yaml(f"v{__version__}", sums)

    assert rendered == (ROOT / "plugin.yaml").read_text(encoding="utf-8")
    assert [build.file_name(known, f"v{__version__}") for known in build.PLATFORMS.values()] == list(sums)
    assert [known.name for known in build.PLATFORMS.values()] == [
        "-".join(entry["selector"]["matchLabels"][key] for key in ("os", "arch")) for entry in spec["platforms"]
    ]
    assert ["kubectl-spread"] * 4 + ["kubectl-spread.exe"] == [entry["bin"] for entry in spec["platforms"]]


# What is pinned


def test_every_requirement_is_pinned_and_within_its_bounds() -> None:
    """For every platform and Python, with what the language server needs."""
    config = ConfigParser()
    config.read(ROOT / "setup.cfg")
    text = config["options"]["install_requires"] + config["options.extras_require"]["lsp"]
    wanted = [Requirement(line) for line in text.strip().splitlines()]
    locked = build.pinned((ROOT / "release" / "requirements.txt").read_text(encoding="utf-8"))
    for known in build.PLATFORMS.values():
        for minor in build.MINORS:
            lines = [Requirement(line) for line in build.chosen_for(known, minor, locked)]
            versions = {canonicalize_name(line.name): str(line.specifier)[2:] for line in lines}

            assert len(versions) == len(lines)
            assert [] == [
                str(need) for need in wanted if not need.specifier.contains(versions[canonicalize_name(need.name)])
            ]


def test_markers_are_asked_about_the_python_that_is_packed_for() -> None:
    locked = build.pinned(
        'a==1 ; python_full_version < "3.11" --hash=sha256:0\n'
        'a==2 ; python_full_version >= "3.11" \\\n    --hash=sha256:1 \\\n    --hash=sha256:2\n'
        'b==1 ; sys_platform == "win32" --hash=sha256:3\n'
    )
    chosen = {
        (name, minor): build.chosen_for(build.PLATFORMS[name], minor, locked)
        for name in ("linux-arm64", "windows-amd64")
        for minor in (10, 14)
    }
    both = "--hash=sha256:1      --hash=sha256:2"

    assert {
        ("linux-arm64", 10): {"a==1": "--hash=sha256:0"},
        ("linux-arm64", 14): {"a==2": both},
        ("windows-amd64", 10): {"a==1": "--hash=sha256:0", "b==1": "--hash=sha256:3"},
        ("windows-amd64", 14): {"a==2": both, "b==1": "--hash=sha256:3"},
    } == chosen


# Archives


@pytest.mark.parametrize("zipped", [False, True])
def test_an_archive_depends_on_nothing_but_its_files(zipped: bool, tmp_path: Path) -> None:
    """The same bytes in whatever order the files come; folders, contents and modes are what they were."""
    entries = {"run": build.Entry(b"#!", 0o755), "lib/a/b.py": build.Entry(b"b"), "LICENSE": build.Entry(b"free")}
    packed = build.pack(entries, zipped=zipped)
    krew.unpack(packed, tmp_path)
    found = {str(path.relative_to(tmp_path).as_posix()): path for path in tmp_path.rglob("*") if path.is_file()}

    assert packed == build.pack(dict(reversed(entries.items())), zipped=zipped)
    assert {name: entry.content for name, entry in entries.items()} == {n: p.read_bytes() for n, p in found.items()}
    if os.name != "nt":
        assert {name: entry.mode for name, entry in entries.items()} == {
            name: path.stat().st_mode & 0o777 for name, path in found.items()
        }


@pytest.mark.skipif(HOST not in build.PLATFORMS, reason="no archive is built for this platform")
@pytest.mark.skipif(OWN not in build.MINORS, reason="no archive is built for this Python")
def test_an_archive_runs_on_a_bare_python(tmp_path: Path) -> None:
    """Built as `make release` does, here for this Python and one of another numpy; unpacked as krew does."""
    other = 10 if OWN != 10 else 14
    dist, store, bare = (tmp_path / name for name in ("dist", "store", "bin"))
    for folder in (store, bare):
        folder.mkdir()
    command = [sys.executable, "-m", "release.build", "--platform", HOST, "--minor", str(OWN), "--minor", str(other)]
    command += ["--dist", str(dist), "--wheels", str(tmp_path / "wheels")]
    subprocess.run(command, check=True, cwd=ROOT, capture_output=True, timeout=280)
    file = build.file_name(build.PLATFORMS[HOST], f"v{__version__}")
    packed = (dist / file).read_bytes()
    krew.unpack(packed, store)
    run = _bare(bare, store)
    web = str(ROOT / "examples" / "shop" / "web.yaml")
    explained = run("explain", "-f", web, "--topology", "zones=3,nodes=2,cpu=4,memory=16Gi")
    checked = run("check", web)
    unread = run("check", "no-such.yaml")

    assert f"{hashlib.sha256(packed).hexdigest()}  {file}\n" == (dist / "SHA256SUMS").read_text()
    assert f"Client Version: v{__version__}" == run("version").stdout.splitlines()[0]
    assert run("--help").stdout.startswith("Usage: kubectl spread ")
    assert {"lib", "lib-3.10", f"lib-3.{max(OWN, other)}"} == {path.name for path in store.glob("lib*")}
    assert (0, "") == (checked.returncode, checked.stderr.partition("checked")[0])
    assert "warning SPR401 missing-revision-key" in checked.stdout
    assert (0, True) == (explained.returncode, "fits on 6 nodes" in explained.stdout), explained.stderr
    assert (1 if os.name == "nt" else 3) == unread.returncode  # kubectl for Windows makes it 1
    _assert_complete(store, (OWN, other))


def _bare(folder: Path, store: Path) -> Any:
    """A run of `kubectl spread` with nothing on PATH but kubectl, a Python of no environment and the archive's file.

    Where there is no kubectl, the file is run as kubectl would: by its absolute path, with the words behind `spread`.
    """
    python = Path(sys.base_prefix, "python.exe") if os.name == "nt" else Path(os.path.realpath(sys.executable))
    kubectl = shutil.which("kubectl")
    path = [str(folder)]
    if os.name == "nt":
        path += [str(python.parent), str(store)]
        program = store / "kubectl-spread.exe"
    else:
        program = folder / "kubectl-spread"
        program.symlink_to(store / "kubectl-spread")
        (folder / "python3").symlink_to(python)
        (folder / "readlink").symlink_to(shutil.which("readlink") or "readlink")
    if kubectl:
        path.append(str(Path(kubectl).parent)) if os.name == "nt" else (folder / "kubectl").symlink_to(kubectl)
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "PATHEXT", "TEMP") if name in os.environ}
    env = {**kept, "PATH": os.pathsep.join(path), "HOME": str(folder), "PYTHONPATH": "/nowhere"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [kubectl, "spread", *arguments] if kubectl else [str(program), *arguments]
        return subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, timeout=60)

    if kubectl:
        listed = subprocess.run([kubectl, "plugin", "list"], env=env, cwd=folder, capture_output=True, text=True)
        assert (0, [str(program)]) == (listed.returncode, listed.stdout.split("\n\n")[1].splitlines()), listed.stderr
        assert "warning" not in listed.stdout + listed.stderr
    return run


def _assert_complete(store: Path, minors: tuple[int, ...]) -> None:
    """Licences are there, each Python has its native modules, and no package lies there twice."""
    infos = sorted(path for path in store.glob("lib*/*.dist-info"))
    without = [path.name for path in infos if not any(_is_licence(file) for file in path.rglob("*"))]

    assert {"LICENSE", "NOTICE", "launch.py"} <= {path.name for path in store.iterdir()}
    assert [] == without
    assert len(infos) == len({path.name for path in infos})
    for stem in ("_ruamel_yaml", "yaml/_yaml", "rpds/rpds"):
        tagged = {path.name.partition(".")[2] for path in (store / "lib").glob(f"{stem}.c*")}
        assert len(minors) == len(tagged)
        assert EXTENSION_SUFFIXES[0].lstrip(".") in tagged
    assert len(minors) == len(list(store.rglob("_multiarray_umath.c*")))


def _is_licence(file: Path) -> bool:
    return file.name.upper().startswith(("LICEN", "COPYING", "NOTICE", "AUTHORS"))


# Starting


@pytest.fixture
def unsuitable(tmp_path: Path) -> Path:
    """An unpacked archive whose native modules are for none of the Pythons here."""
    text = (ROOT / "release" / "launch.py").read_text(encoding="utf-8")
    (tmp_path / "lib").mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib" / "_ruamel_yaml.other.so").touch()
    (tmp_path / "launch.py").write_text(
        text.replace("@platform@", HOST).replace("MINORS = ()", "MINORS = (12, 13, 14)")
    )
    shutil.copy(ROOT / "release" / "kubectl-spread", tmp_path)
    (tmp_path / "bin" / "python3").symlink_to(os.path.realpath(sys.executable))
    return tmp_path


def _started(home: Path, **env: str) -> subprocess.CompletedProcess[str]:
    command = [str(home / "kubectl-spread"), "check", "a b"]
    return subprocess.run(command, capture_output=True, text=True, env={"PATH": str(home / "bin"), **env})


def _pretend(path: Path, suffix: str) -> Path:
    """A Python that loads modules of a suffix, and says what it is asked to run."""
    path.write_text(f'#!/bin/sh\ncase "$3" in -c) echo {suffix} ;; *) echo "${{0##*/}}: $*" ;; esac\n')
    path.chmod(0o755)
    return path


@POSIX_ONLY
def test_a_python_that_does_not_suit_hands_over_to_one_that_does(unsuitable: Path) -> None:
    _pretend(unsuitable / "bin" / "python3.14", ".musl.so")
    _pretend(unsuitable / "bin" / "python3.12", ".other.so")
    done = _started(unsuitable)

    assert f"python3.12: -I -S {unsuitable}/launch.py {unsuitable}/kubectl-spread check a b\n" == done.stdout


@POSIX_ONLY
def test_without_a_python_that_suits_it_says_which_would(unsuitable: Path) -> None:
    _pretend(unsuitable / "bin" / "python3.14", ".musl.so")
    done = _started(unsuitable)

    assert (2, "") == (done.returncode, done.stdout)
    assert (
        f"error: kubectl spread was packed for {HOST} and CPython 3.12 to 3.14; "
        f"this is Python {platform.python_version()} at {unsuitable}/bin/python3\n"
        "hint: set KUBECTL_SPREAD_PYTHON to another python, or `pip install kubectl-spread`\n"
    ) == done.stderr


@POSIX_ONLY
def test_the_python_that_is_asked_for_is_the_one_that_starts(unsuitable: Path) -> None:
    """Also where its name has a space, and through a relative link."""
    chosen = _pretend(unsuitable / "my python", ".other.so")
    (unsuitable / "bin" / "kubectl-spread").symlink_to("../kubectl-spread")
    for program in (unsuitable / "kubectl-spread", unsuitable / "bin" / "kubectl-spread"):
        env = {"PATH": "/usr/bin:/bin", "KUBECTL_SPREAD_PYTHON": str(chosen)}
        done = subprocess.run([program, "version"], capture_output=True, text=True, env=env)
        head, _, rest = done.stdout.partition("launch.py ")

        assert f"{program} version\n" == rest
        assert unsuitable == Path(head.removeprefix("my python: -I -S ")).resolve()


@POSIX_ONLY
def test_without_any_python_it_says_so(unsuitable: Path) -> None:
    (unsuitable / "bin" / "python3").unlink()
    done = _started(unsuitable)

    assert (2, "error: kubectl spread needs Python 3.10 or newer on PATH\n") == (done.returncode, done.stderr)
