"""Plan of the files that `init` writes: a commented configuration, a hook, and additions to existing files.

The settings come from Node objects: the lowest version of their kubelets, and the values of their topology labels.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple, Optional

from kubectl_spread import __version__
from kubectl_spread.errors import SourceError
from kubectl_spread.lint.kustomization import Kustomization
from kubectl_spread.objects.reading.plain import fields, numbered_mappings, value_at
from kubectl_spread.objects.releases.version import minor_of, VersionError
from kubectl_spread.objects.selectors import ZONE
from kubectl_spread.objects.workloads.manifest import looks_like_objects, Manifest, objects_of
from kubectl_spread.sources import config, files
from kubectl_spread.sources.kustomize import kustomizations
from kubectl_spread.text.compose import compose, Document
from kubectl_spread.text.edit import Append, apply_changes, edits, NoEditError, with_edits
from kubectl_spread.text.glob import upwards
from kubectl_spread.text.scalars import scalar
from kubectl_spread.text.source import SourceFile
from kubectl_spread.text.wording import comma_list

REPOSITORY_URL = "https://github.com/kubectl-spread/kubectl-spread"
_SCHEMA = "https://raw.githubusercontent.com/kubectl-spread/kubectl-spread/main/schemas/config.json"
_HEAD = f"""\
# Settings of `kubectl spread check`: {REPOSITORY_URL}/blob/main/docs/configuration.md
# yaml-language-server: $schema={_SCHEMA}
# Rules: minimal (errors only), default, or strict (all rules, with opinions).
profile: default
"""
_PATHS = """\
# What `kubectl spread check` reads if no file is named: everything below this directory.
paths: [.]
"""
PRE_COMMIT = ".pre-commit-config.yaml"
_NAMES = ("kubectl-spread/kubectl-spread", "kubectl-spread.git")
_LABELS = ("topology.kubernetes.io/region", ZONE)
_MOST_NAMES = 3  # in a comment
# The nodes of examples, tests and other projects are in no cluster of the repository.
_EXAMPLES = re.compile(
    r"(?i)(?:^|[/_.-])(?:examples?|samples?|tests?|testdata|fixtures?|openapi|swagger|docs?"
    r"|node_modules|third_party|vendor)(?:[/_.-]|$)"
)


class FileChange(NamedTuple):
    """A file with its new text. `before` is None for a new file.

    `advice` is what to add by hand, if the file cannot be edited safely; then `after` equals `before`.
    """

    path: str
    before: Optional[str]
    after: str
    advice: str = ""

    @property
    def is_change(self) -> bool:
        return self.before != self.after


class SetupPlan(NamedTuple):
    """The files to write in the repository at `root`, and what was found there."""

    root: str
    sources: tuple[SourceFile, ...]
    workloads: list[Manifest]
    kustomizations: dict[str, Kustomization]
    changes: tuple[FileChange, ...]


def plan_setup(directory: str) -> SetupPlan:
    """Return the files for the repository of a directory, without writing any.

    Files that cannot be read or parsed are skipped, because `check` reports them.

    Raises:
        SourceError: the directory or an existing file cannot be read.
        ConfigError: the existing configuration is invalid.
    """
    start = os.path.abspath(directory)
    root = next((here for here in upwards(start) if os.path.exists(os.path.join(here, ".git"))), start)
    sources = []
    for item in files.inputs((root,), recursive=True, inside=root):
        if isinstance(item, files.Input):
            sources.append(item.source)
        elif item.source == root:
            raise item
    objects = [item for source in sources if looks_like_objects(source.text) for item in objects_of(source)]
    roots = kustomizations(sources)
    changes = [_config(root, {"paths": _PATHS, **_settings(root, objects)})]
    if os.path.exists(os.path.join(root, ".git")):
        kinds = {item.kind for item in objects}
        # Several files belong together, so that the whole project should be checked at once.
        is_joined = bool(roots or kinds & {"HorizontalPodAutoscaler", "ScaledObject"})
        changes.append(_pre_commit(root, "kubectl-spread-project" if is_joined else "kubectl-spread"))
    workloads = [item for item in objects if item.workload_kind is not None]
    return SetupPlan(root, tuple(sources), workloads, roots, tuple(changes))


def _settings(root: str, objects: Iterable[Manifest]) -> dict[str, str]:
    """Return each setting below the reason for it. Labels for which files list different values are left out."""
    versions: dict[str, list[str]] = defaultdict(list)
    values: dict[tuple[str, str], set[str]] = defaultdict(set)  # by label and file
    for item in objects:
        file = os.path.relpath(item.document.source.name, root).replace(os.sep, "/")
        if item.kind != "Node" or item.api_version != "v1" or _EXAMPLES.search(file):
            continue
        text = re.match(r"v?(1\.\d+)", str(value_at(item.plain, ("status", "nodeInfo", "kubeletVersion"))))
        with contextlib.suppress(VersionError):
            if text is not None and minor_of(text[1]):
                versions[text[1]].append(file)
        labels = fields(value_at(item.plain, ("metadata", "labels")))
        for key in _LABELS:
            if isinstance(labels.get(key), str) and labels[key]:
                values[key, file].add(labels[key])
    found = {}
    if versions:
        where = comma_list(dict.fromkeys(file for named in versions.values() for file in named), most=_MOST_NAMES)
        lowest = scalar(min(versions, key=minor_of))
        found["kubernetesVersion"] = f"# The lowest version of the kubelets in {where}.\nkubernetesVersion: {lowest}\n"
    lists = {key: {tuple(sorted(each)) for (label, _), each in values.items() if label == key} for key in _LABELS}
    lines = [f"  {key}: [{', '.join(map(scalar, min(each)))}]\n" for key, each in lists.items() if len(each) == 1]
    if lines:
        where = comma_list(
            dict.fromkeys(file for file, _ in sorted((file, key) for key, file in values)), most=_MOST_NAMES
        )
        found["domains"] = f"# Labels of the nodes in {where}.\ndomains:\n{''.join(lines)}"
    return found


def write(plan: SetupPlan) -> list[str]:
    """Write the changed files; return their paths.

    Raises:
        SourceError: a file cannot be written, or was changed in the meantime.
    """
    written = []
    for change in plan.changes:
        if not change.is_change:
            continue
        if _text(change.path) != change.before:
            raise SourceError(change.path, "the file was changed in the meantime; nothing is written to it")
        files.write(change.path, change.after.encode())
        written.append(change.path)
    return written


def _text(path: str) -> Optional[str]:
    """Return the text of a file with its line ends; None if it does not exist.

    Raises:
        SourceError: it exists and cannot be read.
    """
    return files.read_text(path).text if os.path.lexists(path) else None


def _config(root: str, settings: dict[str, str]) -> FileChange:
    path = next((item for name in files.CONFIGS if os.path.lexists(item := os.path.join(root, name))), None)
    if path is None:
        return FileChange(os.path.join(root, files.CONFIGS[0]), None, _HEAD + "".join(settings.values()))
    config.load(path)  # an invalid configuration must be corrected first
    before = _text(path) or ""
    present = fields(_plain(before))
    added = "".join(text for key, text in settings.items() if key not in present)
    if not added:
        return FileChange(path, before, before)
    newline = "\r\n" if "\r\n" in before else "\n"
    end = "" if not before or before.endswith("\n") else newline
    after = f"{before}{end}{newline if before else ''}{added.replace(chr(10), newline)}"
    is_safe = _plain(after) == {**present, **fields(_plain(added))}
    return FileChange(path, before, after) if is_safe else FileChange(path, before, before, added)


def _pre_commit(root: str, hook: str) -> FileChange:
    path = os.path.join(root, PRE_COMMIT)
    item = {"repo": REPOSITORY_URL, "rev": f"v{__version__}", "hooks": [{"id": hook}]}
    stanza = f"- repo: {item['repo']}\n  rev: {item['rev']}\n  hooks:\n  - id: {hook}\n"
    before = _text(path)
    if before is None:
        return FileChange(path, None, f"repos:\n{stanza}")
    document = _document(before)
    # One of our hooks, from our repository or a local one
    for _, repo in numbered_mappings(value_at(document and document.plain, ("repos",))):
        ids = [str(hook.get("id")) for _, hook in numbered_mappings(repo.get("hooks"))]
        if str(repo.get("repo")).endswith(_NAMES) or any(name.startswith("kubectl-spread") for name in ids):
            return FileChange(path, before, before)
    by_hand = FileChange(path, before, before, stanza)
    if document is None:
        return by_hand
    addition = Append(("repos",), item)
    try:
        after = with_edits(before, edits(document, [addition]))
        wanted = apply_changes(document.plain, [addition])
    except (NoEditError, KeyError, TypeError, AttributeError):
        return by_hand
    return FileChange(path, before, after) if _plain(after) == wanted else by_hand


def _document(text: str) -> Optional[Document]:
    """Return the only document of a text; None if it has another number of documents, or is not YAML."""
    documents = list(compose(SourceFile("", text)))
    return documents[0] if len(documents) == 1 and isinstance(documents[0], Document) else None


def _plain(text: str) -> Any:
    """Return the value of the only document of a text; None as in `_document`."""
    document = _document(text)
    return document and document.plain
