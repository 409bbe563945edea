"""Builder of the archives for krew, and of plugin.yaml.

`python release/build.py` writes the archive of this platform to dist/ (`make release`). The release workflow does so on
every platform. `python release/build.py --assemble` then writes SHA256SUMS and plugin.yaml for the archives in dist/.

An archive needs no Python and no other program:

    kubectl-spread     the program that krew links; kubectl-spread.exe on Windows
    _internal/         Python, the libraries, and this package, collected by PyInstaller
    licenses/          licences of Python and of each library
    LICENSE, NOTICE    ours
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple, Optional

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "release"
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
LOCKS = ("requirements.txt", "tools.txt")

# Windows on arm64 is missing: ruamel.yaml.clib has no wheel for it.
PLATFORMS = ("linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64", "windows-amd64")
_MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
_LICENCE = re.compile(r"(?i)(licen[cs]e|copying|notice|authors)[^/]*")


# Packages that only commands for a live cluster import; their modules are compressed into one file.
ZIPPED = ("kubernetes",)
ZIP = "_internal/packages.zip"


class Entry(NamedTuple):
    """A file of an archive."""

    content: bytes
    mode: int = 0o644


def main() -> int:
    """Build the archive of this platform, or assemble the files about all archives."""
    parser = argparse.ArgumentParser(description="Build the archives for krew.")
    parser.add_argument("--assemble", action="store_true", help="write SHA256SUMS and plugin.yaml, and build nothing")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="directory of the archives")
    parser.add_argument(
        "--work", type=Path, default=ROOT / "build" / "archive", help="directory for intermediate files"
    )
    arguments = parser.parse_args()
    arguments.dist.mkdir(parents=True, exist_ok=True)
    version = f"v{own_version()}"
    if arguments.assemble:
        return assemble(arguments.dist, version)
    host = host_platform()
    if host not in PLATFORMS:
        raise SystemExit(f"no archive is made for {host}: only for {', '.join(PLATFORMS)}")
    work = arguments.work.resolve()
    folder = collected(work, own_wheel(work))
    entries = {**tree(folder), **licences(work)}
    packed = pack(entries, zipped=host.startswith("windows-"))
    file = file_name(host, version)
    (arguments.dist / file).write_bytes(packed)
    size = sum(len(entry.content) for entry in entries.values())
    sys.stderr.write(f"{file}: {len(packed) / 1e6:.0f} MB, unpacked {size / 1e6:.0f} MB, {len(entries)} files\n")
    return 0


def assemble(dist: Path, version: str) -> int:
    """Write the checksums of the archives in a directory and, if no platform is missing, plugin.yaml."""
    names = [file_name(name, version) for name in PLATFORMS]
    sums = {name: hashlib.sha256((dist / name).read_bytes()).hexdigest() for name in names if (dist / name).exists()}
    lines = [f"{digest}  {file}\n" for file, digest in sorted(sums.items())]
    (dist / "SHA256SUMS").write_text("".join(lines), encoding="utf-8", newline="\n")
    missing = [name for name in names if name not in sums]
    if missing:
        sys.stderr.write(f"plugin.yaml is not written, because archives are missing: {', '.join(missing)}\n")
        return 1
    (dist / "plugin.yaml").write_text(plugin_yaml(version, sums), encoding="utf-8", newline="\n")
    return 0


def host_platform() -> str:
    """Return this platform as krew names it, for example `linux-amd64`."""
    machine = platform.machine().lower()
    return f"{platform.system().lower()}-{_MACHINES.get(machine, machine)}"


def file_name(name: str, version: str) -> str:
    """Return the file name of a platform's archive; .krew.yaml has its address."""
    extension = "zip" if name.startswith("windows-") else "tar.gz"
    return f"kubectl-spread_{version}_{name.replace('-', '_')}.{extension}"


def own_version() -> str:
    """Return the version of the package, without importing it."""
    text = (ROOT / "kubectl_spread" / "__init__.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    return str(version)


def own_wheel(target: Path) -> Path:
    """Build the wheel of the package from a copy of its sources; return its path."""
    target.mkdir(parents=True, exist_ok=True)
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
    """Return .krew.yaml filled in as krew-release-bot does (its pkg/source/template.go).

    addURIAndSha becomes `uri` and `sha256`. The latter follows the four spaces of a platform's fields.
    """
    lines = (ROOT / ".krew.yaml").read_text(encoding="utf-8").splitlines(keepends=True)
    template = "".join(line for line in lines if not line.startswith("#"))

    def filled(match: re.Match[str]) -> str:
        uri = match[1].replace("{{ .TagName }}", version)
        return f"uri: {uri}\n    sha256: {sums[uri.rpartition('/')[2]]}"

    text = re.sub(r'\{\{addURIAndSha "(.+?)" \.TagName \}\}', filled, template)
    return text.replace("{{ .TagName }}", version)


# Programs


def collected(work: Path, wheel: Path) -> Path:
    """Collect the program and everything that it needs in one folder; return the folder."""
    python = environment(work / "environment")
    _pip(python, "--no-deps", "--force-reinstall", str(wheel))
    command = [str(python), "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN"]
    command += ["--distpath", str(work / "programs"), "--workpath", str(work / "analysis")]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    # In another directory, because the checkout must not be imported instead of the wheel.
    subprocess.run([*command, str(HERE / "kubectl-spread.spec")], check=True, env=inherited, cwd=work)
    folder = work / "programs" / "kubectl-spread"
    strip = shutil.which("strip")
    if strip is not None and sys.platform == "linux":
        for library in folder.glob(
            "_internal/libpython3*.so*"
        ):  # a Python with debugging symbols is three times as large
            subprocess.run([strip, "--strip-unneeded", str(library)], check=True)
    return folder


def environment(folder: Path) -> Path:
    """Create a virtual environment with the pinned libraries and tools, unless it exists; return its Python."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = folder / "pinned"
    pinned = "".join((HERE / name).read_text(encoding="utf-8") for name in LOCKS)
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != pinned:
        subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder)], check=True)
        for name in LOCKS:
            _pip(python, "--require-hashes", "--only-binary", ":all:", "--requirement", str(HERE / name))
        stamp.write_text(pinned, encoding="utf-8")
    return python


def _pip(python: Path, *arguments: str) -> None:
    """Install for a Python. PyInstaller compiles by itself what it collects."""
    options = ("--quiet", "--disable-pip-version-check", "--no-warn-script-location", "--no-compile")
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), "install", *options, *arguments], check=True)


def tree(folder: Path) -> dict[str, Entry]:
    """Return the files of a collected program. krew refuses links, so a link becomes a copy of its target.

    Links to libraries of a wheel are left out: the wheel's modules find these by their own paths.
    """
    entries, zipped = {}, {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if path.is_symlink() and path.resolve().parent.name.endswith((".libs", ".dylibs")):
            continue
        is_program = os.access(path, os.X_OK) and os.name != "nt"
        name = path.relative_to(folder).as_posix()
        entry = Entry(path.read_bytes(), 0o755 if is_program else 0o644)
        if name.endswith(".pyc") and name.startswith(tuple(f"_internal/{package}/" for package in ZIPPED)):
            zipped[name.removeprefix("_internal/")] = entry
        else:
            entries[name] = entry
    return {**entries, ZIP: Entry(pack(zipped, zipped=True))} if zipped else entries


def _library(info: Path) -> str:
    """Return the normalised name of an installed library (PEP 503): installers write it in several ways."""
    return re.sub(r"[-_.]+", "-", info.name.partition("-")[0]).lower()


def licences(work: Path) -> dict[str, Entry]:
    """Return the licences: ours, and those of Python and of every library in the program."""
    entries = {name: Entry((ROOT / name).read_bytes()) for name in ("LICENSE", "NOTICE")}
    libraries = next((work / "environment").rglob("site-packages"))
    for info in sorted(libraries.glob("*.dist-info")):
        for path in sorted(info.rglob("*")):
            if path.is_file() and _LICENCE.fullmatch(path.name):
                name = path.relative_to(info).as_posix().replace("/", "-")
                entries[f"licenses/{_library(info)}/{name}"] = Entry(path.read_bytes())
    entries["licenses/python/LICENSE.txt"] = Entry(_python_licence())
    return entries


def _python_licence() -> bytes:
    """Return the licence of the Python that is packed."""
    import site  # the interactive `license()` knows where it is

    folders = {Path(os.__file__).parent, Path(sys.base_prefix), Path(site.__file__).parent}
    for folder in sorted(folders):
        for name in ("LICENSE.txt", "LICENSE"):
            if (folder / name).is_file():
                return (folder / name).read_bytes()
    return b"Python is distributed under the PSF License Agreement: https://docs.python.org/3/license.html\n"


# Archives


def pack(entries: dict[str, Entry], *, zipped: bool) -> bytes:
    """Return an archive. krew takes no links, and of a zip no file whose folder has not come before it."""
    named: dict[str, Optional[Entry]] = dict(entries)
    for name in entries:
        parts = name.split("/")[:-1]
        named.update({"/".join(parts[: end + 1]) + "/": None for end in range(len(parts))})
    ordered = sorted(named.items())
    return _zip(ordered) if zipped else _tar(ordered)


def _tar(entries: list[tuple[str, Optional[Entry]]]) -> bytes:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
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
