"""Builds the archives that plugin.yaml points to, and plugin.yaml itself.

`python release/build.py` writes an archive for every platform, SHA256SUMS and plugin.yaml to dist/ (`make release`).

An archive holds the package and what it needs, out of wheels that are pinned in requirements.txt, for one platform and
several versions of Python:

    kubectl-spread     what krew links: a shell script, or an .exe
    launch.py          picks the libraries
    lib/               packages of which all Pythons take the same version; their native modules lie side by side
    lib-3.10/          packages that differ: those for Python 3.10 up to the next such folder
    LICENSE, NOTICE    ours; those of the packages are in their .dist-info

The same sources give the same bytes: names are sorted, times and owners are removed. (Another zlib may compress
otherwise.)
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple, Optional

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "release"
MINORS = (10, 11, 12, 13, 14)  # of CPython 3
SOURCES = (
    "setup.py",
    "setup.cfg",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "NOTICE",
    "kubectl_spread",
    "schemas",
    "examples/shop",
)

# Nothing of these is used by a program; they are a third of numpy.
_UNUSED_SUFFIXES = (".pyi", ".pyx", ".pxd", ".h", ".c", ".a", ".lib", "/RECORD", "/WHEEL", "/DELVEWHEEL")
_UNUSED_FOLDERS = {"tests", "__pycache__"}

# Files that differ between the wheels of one version, though nothing depends on it: how each was built.
_TELLING = {"numpy/__config__.py"}

_GLIBC = (28, 27, 24, 17, 12, 5)


class Platform(NamedTuple):
    """What krew calls a platform, with what Python calls it."""

    os: str
    arch: str
    tags: tuple[str, ...]  # of wheels
    markers: dict[str, str]

    @property
    def name(self) -> str:
        return f"{self.os}-{self.arch}"


class Entry(NamedTuple):
    """A file of an archive."""

    content: bytes
    mode: int = 0o644


def _linux(arch: str, machine: str) -> Platform:
    """From glibc 2.28 on: Debian 10, RHEL 8, Ubuntu 20.04; not musl."""
    tags = tuple(f"manylinux_2_{minor}_{machine}" for minor in _GLIBC)
    tags += (f"manylinux2014_{machine}", f"manylinux2010_{machine}", f"manylinux1_{machine}")
    return Platform("linux", arch, tags, _markers("linux", "Linux", "posix", machine))


def _darwin(arch: str, machine: str) -> Platform:
    return Platform("darwin", arch, (f"macosx_11_0_{machine}",), _markers("darwin", "Darwin", "posix", machine))


def _markers(sys_platform: str, system: str, os_name: str, machine: str) -> dict[str, str]:
    return {
        "sys_platform": sys_platform,
        "platform_system": system,
        "os_name": os_name,
        "platform_machine": machine,
        "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
    }


# Windows on arm64 is missing: ruamel.yaml.clib has no wheel for it.
PLATFORMS = {
    platform.name: platform
    for platform in (
        _linux("amd64", "x86_64"),
        _linux("arm64", "aarch64"),
        _darwin("amd64", "x86_64"),
        _darwin("arm64", "arm64"),
        Platform("windows", "amd64", ("win_amd64",), _markers("win32", "Windows", "nt", "AMD64")),
    )
}


def main() -> int:
    """Build what is asked for; plugin.yaml only where it is everything."""
    parser = argparse.ArgumentParser(description="Build the archives for krew.")
    parser.add_argument("--platform", action="append", choices=sorted(PLATFORMS), help="only this one (repeatable)")
    parser.add_argument("--minor", action="append", type=int, choices=MINORS, help="only Python 3.MINOR (repeatable)")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="where to")
    parser.add_argument("--wheels", type=Path, default=ROOT / "build" / "wheels", help="where wheels are kept")
    arguments = parser.parse_args()
    arguments.dist.mkdir(parents=True, exist_ok=True)
    minors = tuple(sorted(arguments.minor or MINORS))
    version = f"v{own_version()}"
    own = own_wheel(arguments.dist)
    sums = {}
    for name in arguments.platform or PLATFORMS:
        platform = PLATFORMS[name]
        entries = tree(platform, minors, wheels=arguments.wheels, own=own)
        packed = pack(entries, zipped=platform.os == "windows")
        file = file_name(platform, version)
        (arguments.dist / file).write_bytes(packed)
        sums[file] = hashlib.sha256(packed).hexdigest()
        sys.stderr.write(f"{file}: {len(packed) / 1e6:.1f} MB, {len(entries)} files\n")
    lines = [f"{digest}  {file}\n" for file, digest in sorted(sums.items())]
    (arguments.dist / "SHA256SUMS").write_text("".join(lines), encoding="utf-8", newline="\n")
    if len(sums) == len(PLATFORMS):
        (arguments.dist / "plugin.yaml").write_text(plugin_yaml(version, sums), encoding="utf-8", newline="\n")
    return 0


def file_name(platform: Platform, version: str) -> str:
    """What an archive is called, for which .krew.yaml has the address."""
    extension = "zip" if platform.os == "windows" else "tar.gz"
    return f"kubectl-spread_{version}_{platform.os}_{platform.arch}.{extension}"


def own_version() -> str:
    """The version of the package, which is not imported."""
    text = (ROOT / "kubectl_spread" / "__init__.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    return str(version)


def own_wheel(target: Path) -> Path:
    """The wheel of the package, built from a copy of what belongs to it."""
    with tempfile.TemporaryDirectory() as folder:
        for name in SOURCES:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, Path(folder, name), ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(source, folder)
        command = [
            sys.executable,
            "-m",
            "build",
            "--wheel",
            "--no-isolation",
            "--outdir",
            str(target.resolve()),
            folder,
        ]
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "315532800"}  # 1980, the first that a zip can say
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    (wheel,) = target.glob(f"kubectl_spread-{own_version()}-*.whl")
    return wheel


def plugin_yaml(version: str, sums: dict[str, str]) -> str:
    """.krew.yaml filled in as krew-release-bot does (its pkg/source/template.go).

    addURIAndSha becomes `uri` and `sha256`, the latter behind the four spaces of a platform's fields.
    """
    lines = (ROOT / ".krew.yaml").read_text(encoding="utf-8").splitlines(keepends=True)
    template = "".join(line for line in lines if not line.startswith("#"))

    def filled(match: re.Match[str]) -> str:
        uri = match[1].replace("{{ .TagName }}", version)
        return f"uri: {uri}\n    sha256: {sums[uri.rpartition('/')[2]]}"

    text = re.sub(r'\{\{addURIAndSha "(.+?)" \.TagName \}\}', filled, template)
    return text.replace("{{ .TagName }}", version)


# Trees


def tree(platform: Platform, minors: tuple[int, ...], *, wheels: Path, own: Path) -> dict[str, Entry]:
    """The files of an archive by name."""
    locked = pinned((HERE / "requirements.txt").read_text(encoding="utf-8"))
    chosen = {minor: chosen_for(platform, minor, locked) for minor in minors}
    same = set.intersection(*(set(lines) for lines in chosen.values()))
    entries = {f"lib/{name}": Entry(content) for name, content in unpacked(own).items()}
    first_with: dict[frozenset[str], int] = {}
    for minor in minors:
        files = fetched(platform, minor, chosen[minor], target=wheels / platform.name / f"3.{minor}")
        own_lines = frozenset(chosen[minor]) - same
        first = first_with.setdefault(own_lines, minor)
        for requirement, wheel in zip(chosen[minor], files, strict=True):
            folder = "lib" if requirement in same else f"lib-3.{first}"
            _merge(entries, folder, unpacked(wheel))
    return {**entries, **_front(platform, minors, wheels)}


def pinned(text: str) -> list[tuple[Requirement, str]]:
    """The requirements of a lock file, each with its hashes as pip has them."""
    found = []
    for line in text.replace("\\\n", " ").splitlines():
        requirement, _, hashes = line.partition(" --hash")
        if requirement.strip() and not requirement.startswith("#"):
            found.append((Requirement(requirement), f"--hash{hashes}"))
    return found


def chosen_for(platform: Platform, minor: int, locked: list[tuple[Requirement, str]]) -> dict[str, str]:
    """`NAME==VERSION` of what this platform and Python need, with the hashes.

    pip would ask the markers about the Python that runs it, not about the one it fetches for.
    """
    environment = {**platform.markers, "python_version": f"3.{minor}", "python_full_version": f"3.{minor}.0"}
    return {
        f"{requirement.name}{requirement.specifier}": hashes
        for requirement, hashes in locked
        if requirement.marker is None or requirement.marker.evaluate({**environment, "extra": ""})
    }


def fetched(platform: Platform, minor: int, lines: dict[str, str], *, target: Path) -> list[Path]:
    """The wheels of some requirements, in their order."""
    target.mkdir(parents=True, exist_ok=True)
    listed = target / "requirements.txt"
    listed.write_text("".join(f"{name} {hashes}\n" for name, hashes in lines.items()), encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--require-hashes", "--only-binary", ":all:", "--dest", str(target), "--requirement", str(listed)]
    command += ["--implementation", "cp", "--python-version", f"3.{minor}"]
    command += [part for tag in platform.tags for part in ("--platform", tag)]
    subprocess.run(command, check=True)
    return [_wheel_of(name, target) for name in lines]


def _wheel_of(requirement: str, folder: Path) -> Path:
    name, _, version = requirement.partition("==")
    wanted = (_normal(name), version)
    (found,) = (path for path in folder.glob("*.whl") if _named(path) == wanted)
    return found


def _named(wheel: Path) -> tuple[str, str]:
    name, version = wheel.name.split("-")[:2]
    return _normal(name), version


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def unpacked(wheel: Path) -> dict[str, bytes]:
    """What a wheel installs as libraries, but for what no program needs."""
    files = {}
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            parts = name.split("/")
            if name.endswith(("/", *_UNUSED_SUFFIXES)) or not _UNUSED_FOLDERS.isdisjoint(parts[:-1]):
                continue
            if parts[0].endswith(".data"):
                if parts[1] != "scripts":
                    raise SystemExit(f"{wheel.name}: {name} is nothing we know how to install")
                continue
            files[name] = archive.read(name)
    return files


def _merge(entries: dict[str, Entry], folder: str, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        known = entries.setdefault(f"{folder}/{name}", Entry(content))
        if known.content != content and name not in _TELLING:
            raise SystemExit(f"{folder}/{name} is not the same for every Python: pin versions that are not")


def _front(platform: Platform, minors: tuple[int, ...], wheels: Path) -> dict[str, Entry]:
    """What lies at the top of an archive."""
    start = (HERE / "launch.py").read_text(encoding="utf-8")
    start = start.replace("@platform@", platform.name).replace("MINORS = ()", f"MINORS = {minors!r}")
    entries = {
        "launch.py": Entry(start.encode()),
        "LICENSE": Entry((ROOT / "LICENSE").read_bytes()),
        "NOTICE": Entry((ROOT / "NOTICE").read_bytes()),
    }
    if platform.os != "windows":
        return {**entries, "kubectl-spread": Entry((HERE / "kubectl-spread").read_bytes(), 0o755)}
    program, licences = _windows_program(start, wheels)
    return {**entries, **licences, "kubectl-spread.exe": Entry(program, 0o755)}


def _windows_program(start: str, wheels: Path) -> tuple[bytes, dict[str, Entry]]:
    """An .exe as pip makes them for console scripts: a starter, the interpreter's name, a zip of `__main__.py`."""
    ((requirement, hashes),) = pinned((HERE / "launcher.txt").read_text(encoding="utf-8"))
    line = f"{requirement.name}{requirement.specifier}"
    (wheel,) = fetched(PLATFORMS["windows-amd64"], MINORS[0], {line: hashes}, target=wheels / "launcher")
    with zipfile.ZipFile(wheel) as archive:
        starter = archive.read("distlib/t64.exe")
        licences = {
            f"licenses/distlib/{name.rpartition('/')[2]}": Entry(archive.read(name))
            for name in archive.namelist()
            if re.search(r"\.dist-info/.*LICENSE", name)
        }
    if not licences:
        raise SystemExit(f"{wheel.name} has no licence")
    main_module = pack({"__main__.py": Entry(start.encode())}, zipped=True)
    return starter + b"#!/usr/bin/env python -I -S\n" + main_module, licences


# Archives


def pack(entries: dict[str, Entry], *, zipped: bool) -> bytes:
    """An archive of files; krew takes no links, and of a zip no file whose folder has not come before it."""
    named: dict[str, Optional[Entry]] = dict(entries)
    for name in entries:
        parts = name.split("/")[:-1]
        named.update({"/".join(parts[: end + 1]) + "/": None for end in range(len(parts))})
    ordered = sorted(named.items())
    return _zip(ordered) if zipped else _tar(ordered)


def _tar(entries: list[tuple[str, Optional[Entry]]]) -> bytes:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, entry in entries:
            member = tarfile.TarInfo(name.rstrip("/"))
            member.type = tarfile.REGTYPE if entry else tarfile.DIRTYPE
            member.mode = entry.mode if entry else 0o755
            member.size = len(entry.content) if entry else 0
            archive.addfile(member, io.BytesIO(entry.content) if entry else None)
    return gzip.compress(plain.getvalue(), 6, mtime=0)  # 9 takes three times as long for 1 %


def _zip(entries: list[tuple[str, Optional[Entry]]]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, entry in entries:
            member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            member.create_system = 3  # Unix: with modes
            member.compress_type = zipfile.ZIP_DEFLATED if entry else zipfile.ZIP_STORED
            member.external_attr = ((0o100000 | entry.mode) if entry else 0o40755) << 16
            if not entry:
                member.external_attr |= 0x10
            archive.writestr(member, entry.content if entry else b"", compresslevel=6)
    return packed.getvalue()


if __name__ == "__main__":
    sys.exit(main())
