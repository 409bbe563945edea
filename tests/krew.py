"""krew's own rules for plugin manifests and archives.

Source: kubernetes-sigs/krew, internal/index/validation/validate.go and internal/download/downloader.go; what is marked
"index" is asked by validate-krew-manifest (cmd/validate-krew-manifest/main.go), which krew-index runs.
"""

from __future__ import annotations

import io
import os
import re
import tarfile
import zipfile
from pathlib import Path
from typing import Any

_SEMVER = re.compile(
    r"v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?"
    r"(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?"
)
_WINDOWS_DEVICES = re.compile(r"(?i)(con|prn|aux|nul|com[1-9]|lpt[1-9])")
_LICENCE = re.compile(r"(?i)(licen[sc]es?(\.(txt|md))?|copying(\.txt)?)")
KNOWN_PLATFORMS = {
    *(("linux", arch) for arch in ("386", "amd64", "arm", "arm64", "ppc64le")),
    *(("darwin", arch) for arch in ("386", "amd64", "arm64")),
    *(("windows", arch) for arch in ("386", "amd64", "arm64")),
}


def problems(manifest: dict[str, Any]) -> list[str]:
    """What krew would refuse in a manifest, and what reviewers of its index ask for."""
    spec = manifest.get("spec", {})
    name = manifest.get("metadata", {}).get("name", "")
    short = spec.get("shortDescription", "")
    platforms = spec.get("platforms") or []
    found = {
        "apiVersion": manifest.get("apiVersion") == "krew.googlecontainertools.github.com/v1alpha2",
        "kind": manifest.get("kind") == "Plugin",
        "name": bool(re.fullmatch(r"[\w-]+", name, re.ASCII)) and not _WINDOWS_DEVICES.fullmatch(name),
        "version": bool(_SEMVER.fullmatch(spec.get("version", ""))),
        "shortDescription": bool(short) and not re.search(r"[\r\n]", short) and len(short) <= 50,
        "description": all(len(line) <= 80 for line in spec.get("description", "").splitlines()),
        "homepage": str(spec.get("homepage", "")).startswith("https://"),
        "platforms": bool(platforms),
    }
    wrong = [field for field, good in found.items() if not good]
    wrong += [f"platforms[{i}].{field}" for i, platform in enumerate(platforms) for field in _of_platform(platform)]
    matched = [pair for platform in platforms for pair in sorted(KNOWN_PLATFORMS) if matches(platform, *pair)]
    if len(matched) != len(set(matched)):
        wrong.append("two platforms match the same system")  # index
    return wrong


def _of_platform(platform: dict[str, Any]) -> list[str]:
    selector = platform.get("selector") or {}
    keys = {*selector.get("matchLabels", {}), *(entry["key"] for entry in selector.get("matchExpressions", []))}
    path = platform.get("bin", "")
    files = platform.get("files", [{"from": "*", "to": "."}])
    found = {
        "uri": bool(re.search(r"\.(zip|tar\.gz)$", platform.get("uri", ""))),
        "sha256": bool(re.fullmatch(r"[a-f0-9]{64}", str(platform.get("sha256", "")))),
        "bin": bool(path) and not os.path.isabs(path) and ".." not in Path(path).parts,
        "files": bool(files) and all(f.get("from") and f.get("to") == os.path.normpath(f["to"]) for f in files),
        "selector": bool(keys) and keys <= {"os", "arch"},
        "system": any(matches(platform, *pair) for pair in KNOWN_PLATFORMS),  # index
    }
    return [field for field, good in found.items() if not good]


def matches(platform: dict[str, Any], system: str, arch: str) -> bool:
    """Whether a platform's label selector takes a system."""
    labels = {"os": system, "arch": arch}
    selector = platform.get("selector") or {}
    wanted = all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items())
    for entry in selector.get("matchExpressions", []):
        inside = labels.get(entry["key"]) in entry["values"]
        wanted = wanted and inside == (entry["operator"] == "In")
    return wanted


def unpack(packed: bytes, target: Path) -> None:
    """Unpack an archive as krew does, which refuses what it does not know; and look for the licence (index)."""
    if packed[:2] == b"PK":
        _unpack_zip(packed, target)
    else:
        _unpack_tar(packed, target)
    if not any(_LICENCE.fullmatch(path.name) for path in target.iterdir()):
        raise ValueError("no licence was extracted")


def _unpack_tar(packed: bytes, target: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:gz") as archive:
        for member in archive:
            path = target / _sound(member.name)
            if member.type == tarfile.DIRTYPE:
                path.mkdir(mode=member.mode, parents=True, exist_ok=True)
            elif member.type == tarfile.REGTYPE:
                path.parent.mkdir(parents=True, exist_ok=True)
                content = archive.extractfile(member)
                _write(path, content.read() if content else b"", member.mode)
            else:
                raise ValueError(f"unable to handle file type {member.type!r}")


def _unpack_zip(packed: bytes, target: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        for member in archive.infolist():
            path = target / _sound(member.filename)
            mode = member.external_attr >> 16 & 0o777
            if member.is_dir():
                path.mkdir(mode=mode, parents=True, exist_ok=True)
            else:
                _write(path, archive.read(member), mode)


def _write(path: Path, content: bytes, mode: int) -> None:
    path.write_bytes(content)
    path.chmod(mode)


def _sound(name: str) -> str:
    if ".." in name or name.startswith(("/", "\\")):
        raise ValueError(f"suspicious entry {name}")
    return name
