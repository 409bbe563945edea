"""What krew installs: the manifest by its rules, and an archive unpacked as krew does and run without a Python."""

from __future__ import annotations

import copy
import hashlib
import os
import py_compile
import shutil
import subprocess
import sys
from configparser import ConfigParser
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
HOST = build.host_platform()


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
    assert [build.file_name(known, f"v{__version__}") for known in build.PLATFORMS] == list(sums)
    assert list(build.PLATFORMS) == [
        "-".join(entry["selector"]["matchLabels"][key] for key in ("os", "arch")) for entry in spec["platforms"]
    ]
    assert ["kubectl-spread"] * 4 + ["kubectl-spread.exe"] == [entry["bin"] for entry in spec["platforms"]]


# What is pinned


def test_every_requirement_is_pinned_and_within_its_bounds() -> None:
    """With what the language server and the exporter need, for every Python that may build an archive."""
    config = ConfigParser()
    config.read(ROOT / "setup.cfg")
    extras = config["options.extras_require"]
    text = "".join([config["options"]["install_requires"], extras["lsp"], extras["exporter"]])
    wanted = [Requirement(line) for line in text.strip().splitlines()]
    for minor in (10, 13):
        pins = pinned("requirements.txt", python_full_version=f"3.{minor}.0")
        versions = {canonicalize_name(pin.name): str(pin.specifier)[2:] for pin in pins}

        assert len(versions) == len(pins)
        assert [] == [
            str(need) for need in wanted if not need.specifier.contains(versions[canonicalize_name(need.name)])
        ]


def test_the_tools_are_pinned() -> None:
    assert {"pyinstaller"} <= {pin.name for pin in pinned("tools.txt", python_full_version="3.13.0")}


def pinned(file: str, **environment: str) -> list[Requirement]:
    """The pins of a lock file for a Python; each has hashes."""
    found = []
    for line in (ROOT / "release" / file).read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
        requirement, _, hashes = line.partition(" --hash")
        pin = Requirement(requirement)
        assert "=sha256:" in hashes, line
        if pin.marker is None or pin.marker.evaluate({**environment, "platform_python_implementation": "CPython"}):
            found.append(pin)
    return found


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


@pytest.mark.skipif(os.name == "nt", reason="Windows has no links for everybody")
def test_links_become_files_unless_the_wheel_has_them(tmp_path: Path) -> None:
    """krew refuses links. A wheel's modules find the libraries in `NAME.libs` by their own paths."""
    libraries = tmp_path / "_internal" / "numpy.libs"
    libraries.mkdir(parents=True)
    (libraries / "blas.so").write_bytes(b"blas")
    (tmp_path / "_internal" / "blas.so").symlink_to("numpy.libs/blas.so")
    (tmp_path / "_internal" / "Python").write_bytes(b"python")
    (tmp_path / "_internal" / "python").symlink_to("Python")
    (tmp_path / "kubectl-spread").write_bytes(b"run")
    (tmp_path / "kubectl-spread").chmod(0o755)

    assert {
        "_internal/numpy.libs/blas.so": build.Entry(b"blas"),
        "_internal/Python": build.Entry(b"python"),
        "_internal/python": build.Entry(b"python"),
        "kubectl-spread": build.Entry(b"run", 0o755),
    } == build.tree(tmp_path)


def test_the_manifest_is_assembled_when_every_archive_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Until then only the checksums are."""
    version = f"v{__version__}"
    files = [build.file_name(name, version) for name in build.PLATFORMS]
    for file in files[1:]:
        (tmp_path / file).write_text(file)
    incomplete = build.assemble(tmp_path, version), (tmp_path / "plugin.yaml").exists()
    (tmp_path / files[0]).write_text(files[0])
    complete = build.assemble(tmp_path, version)
    sums = {file: hashlib.sha256(file.encode()).hexdigest() for file in files}

    assert ((1, False), 0) == (incomplete, complete)
    assert capsys.readouterr().err == f"plugin.yaml is not written, because archives are missing: {files[0]}\n"
    assert "".join(f"{sums[file]}  {file}\n" for file in sorted(files)) == (tmp_path / "SHA256SUMS").read_text()
    assert [] == krew.problems(manifest((tmp_path / "plugin.yaml").read_text()))
    assert build.plugin_yaml(version, sums) == (tmp_path / "plugin.yaml").read_text()


def test_packages_for_live_clusters_are_compressed(tmp_path: Path) -> None:
    """Python imports them from one file."""
    models = tmp_path / "_internal" / "kubernetes"
    models.mkdir(parents=True)
    source = tmp_path / "source.py"
    source.write_text("ANSWER = 42\n")
    py_compile.compile(str(source), cfile=str(models / "__init__.pyc"), doraise=True)
    source.unlink()
    entries = build.tree(tmp_path)
    (tmp_path / "packages.zip").write_bytes(entries[build.ZIP].content)
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'packages.zip')!r}); import kubernetes as k; print(k.ANSWER)"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True)

    assert [build.ZIP] == list(entries)
    assert ("42\n", "") == (done.stdout, done.stderr)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of this platform, as `make release` builds it."""
    if HOST not in build.PLATFORMS:
        pytest.skip(f"krew archives exist for {', '.join(map(str, build.PLATFORMS))}; this is {HOST}")
    dist = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "release/build.py", "--dist", str(dist), "--work", str(tmp_path_factory.mktemp("work"))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=580)
    assert 0 == done.returncode, done.stderr
    return dist / build.file_name(HOST, f"v{__version__}")


def test_an_archive_runs_without_python_path_and_environment(archive: Path) -> None:
    """It answers, and keeps its limit of size."""
    done = subprocess.run([sys.executable, "release/trial.py", str(archive)], cwd=ROOT, capture_output=True, text=True)

    assert (0, "") == (done.returncode, done.stderr)


def test_kubectl_finds_an_archive_that_krew_unpacked(archive: Path, tmp_path: Path) -> None:
    """Through krew's link, in another directory, with licences; as kubectl_complete-spread it completes."""
    store, programs = tmp_path / "store", tmp_path / "bin"
    store.mkdir()
    programs.mkdir()
    krew.unpack(archive.read_bytes(), store)
    suffix = ".exe" if os.name == "nt" else ""
    for name in ("kubectl-spread", "kubectl_complete-spread"):
        (programs / f"{name}{suffix}").symlink_to(store / f"kubectl-spread{suffix}")
    kubectl = shutil.which("kubectl")
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "PATHEXT") if name in os.environ}
    path = os.pathsep.join([str(programs), *([str(Path(kubectl).parent)] if kubectl else [])])
    env = {**kept, "PATH": path, "HOME": str(tmp_path), "LD_LIBRARY_PATH": "/mine"}
    start = [kubectl, "spread"] if kubectl else [str(programs / f"kubectl-spread{suffix}")]
    version = subprocess.run([*start, "version"], env=env, cwd=tmp_path, capture_output=True, text=True)
    offered = subprocess.run(
        [str(programs / f"kubectl_complete-spread{suffix}"), "stat"], env=env, capture_output=True, text=True
    )
    names = {path.name for path in (store / "licenses").iterdir()}

    assert (0, f"Client Version: v{__version__}") == (version.returncode, version.stdout.splitlines()[0])
    assert offered.stdout.startswith("status\tShow how running pods are spread")
    assert {"python", "numpy", "click", "kubernetes", "ruamel-yaml", "pyinstaller"} <= names
    assert {"LICENSE", "NOTICE"} <= {path.name for path in store.iterdir()}


@pytest.mark.skipif(os.name == "nt", reason="Windows finds libraries without LD_LIBRARY_PATH")
def test_programs_that_the_archive_starts_get_the_user_s_libraries(archive: Path, tmp_path: Path) -> None:
    """PyInstaller points LD_LIBRARY_PATH to its own; kubectl for `-k` is started with the user's value."""
    store = tmp_path / "store"
    store.mkdir()
    krew.unpack(archive.read_bytes(), store)
    (tmp_path / "kubectl").write_text('#!/bin/sh\necho "libraries: ${LD_LIBRARY_PATH-none}" >&2\nexit 1\n')
    (tmp_path / "kubectl").chmod(0o755)
    (tmp_path / "kustomization.yaml").write_text("resources: []\n")
    said = []
    for env in ({}, {"LD_LIBRARY_PATH": "/mine"}):
        command = [str(store / "kubectl-spread"), "check", "-k", str(tmp_path)]
        path = os.pathsep.join([str(tmp_path), "/bin", "/usr/bin"])
        done = subprocess.run(command, env={"PATH": path, **env}, capture_output=True, text=True)
        said.append(done.stderr.partition("libraries: ")[2].split()[0])

    assert ["none", "/mine"] == said
