"""Plan of the files that `init` writes: a commented configuration, a hook, and additions to existing files."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Optional

from kubectl_spread import __version__
from kubectl_spread.errors import SourceError
from kubectl_spread.lint.rule import CLUSTER_AUTOSCALER
from kubectl_spread.sources import atomic_write, config, files
from kubectl_spread.sources.repository import Proposal, propose, Repository, scan
from kubectl_spread.text.compose import compose, Document
from kubectl_spread.text.edit import Append, apply_changes, edits, NoEditError, with_edits
from kubectl_spread.text.source import SourceFile
from kubectl_spread.text.wording import count_noun

_SITE = "https://github.com/kubectl-spread/kubectl-spread"
_SCHEMA = "https://raw.githubusercontent.com/kubectl-spread/kubectl-spread/main/schemas/config.json"
_PLAIN = re.compile(
    r"(?![.-]?\d)(?!(?i:true|false|yes|no|on|off|null|y|n)\Z)[A-Za-z0-9_./][A-Za-z0-9_./-]*\Z", re.ASCII
)
_MOST_HINTS = 6


_KEY = re.compile(r"^(\w+):", re.MULTILINE)  # of a setting that is not a comment


def config_text(proposal: Proposal) -> str:
    """Return a whole configuration. Keys that nothing in the repository suggests are comments."""
    head = f"# Settings of `kubectl spread check` for this repository: {_SITE}/blob/main/docs/configuration.md\n"
    return "\n".join([f"{head}# yaml-language-server: $schema={_SCHEMA}\n", *_sections(proposal)])


def additions(proposal: Proposal, present: Container[str]) -> str:
    """Return the settings that a configuration with some keys lacks; empty if there are none."""
    keys = {section: key[1] for section in _sections(proposal) if (key := _KEY.search(section)) is not None}
    return "\n".join(section for section, key in keys.items() if key not in present and key != "profile")


def _section(comment: Iterable[str], lines: Iterable[str], *, is_set: bool = True) -> str:
    """Return a setting below its comment; a setting without a value is a comment, too."""
    texts = [f"# {line}" for line in comment] + [line if is_set else f"# {line}" for line in lines]
    return "".join(f"{text}\n" for text in texts)


def _sections(proposal: Proposal) -> Iterator[str]:
    yield "# Rules: minimal (errors only), default, or strict (all rules, with opinions).\nprofile: default\n"
    yield "# Lowest severity that makes `check` exit with 1: error, warning, info or never.\n# failOn: error\n"
    if proposal.versions:
        is_one = len({hint.version for hint in proposal.versions}) == 1
        comment = ["Kubernetes version of the clusters:" if is_one else "Lowest Kubernetes version of the clusters:"]
        comment += [f"  {hint.file}:{hint.line} names {hint.version}" for hint in proposal.versions[:_MOST_HINTS]]
        if len(proposal.versions) > _MOST_HINTS:
            comment.append(f"  and {count_noun(len(proposal.versions) - _MOST_HINTS, 'more place')}")
        yield _section(comment, [f'kubernetesVersion: "{proposal.version}"'])
    else:
        yield (
            "# Lowest Kubernetes version of the clusters. Rules about newer fields depend on it.\n"
            '# kubernetesVersion: "1.34"\n'
        )
    comment = ["Autoscaler that adds nodes, if there is one: cluster-autoscaler or karpenter."]
    yield _section(comment, [f"autoscaler: {CLUSTER_AUTOSCALER}"], is_set=False)
    yield from _domains(proposal)
    comment = ["Files and directories to check if none is named."]
    yield _section(comment, [f"paths: {_flow(proposal.paths or ('deploy',))}"], is_set=bool(proposal.paths))
    excluded = [*proposal.vendored, *(f"{chart}/templates" if chart else "/templates" for chart in proposal.charts)]
    rendered = "  Check this chart after rendering: helm template {} | kubectl spread check -"
    comment = ["Files and directories to skip.", *(rendered.format(at or ".") for at in proposal.charts[:_MOST_HINTS])]
    yield _section(comment, [f"exclude: {_flow(excluded or ['vendor'])}"], is_set=bool(excluded))
    comment = ["Directories whose objects are applied together. Objects in different roots do not affect each other."]
    comment += ["  These directories hold copies of the same objects."] if proposal.roots else []
    yield _section(comment, [f"roots: {_flow(proposal.roots or ('clusters/*',))}"], is_set=bool(proposal.roots))
    yield """# Custom resources with pods, and the path of the pods.
# podspecPaths:
# - kind: Database
#   group: example.com
#   path: spec.pools.*.template
"""
    yield """# Findings that are accepted, with the reason.
# ignores:
# - rule: SPR304
#   name: redis-*
#   reason: all our zones have the same number of nodes
"""
    yield """# To report only new findings: kubectl spread check --project --write-baseline spread-baseline.json
# baseline: spread-baseline.json
"""


def _domains(proposal: Proposal) -> Iterator[str]:
    """Yield the zones: set if all files agree, or else as a comment with the values of each file."""
    domains = proposal.domains
    differing = [hint for hint in proposal.zones if hint.key not in domains]
    files = {key: sorted({hint.file for hint in proposal.zones if hint.key == key}) for key in domains}
    if domains:
        comment = ["All values of these node labels, for rules that need cluster facts:"]
        comment += [f"  {key} from {', '.join(found[:_MOST_HINTS])}" for key, found in files.items()]
        yield _section(comment, ["domains:", *(f"  {key}: {_flow(values)}" for key, values in domains.items())])
    if differing or not domains:
        comment = ["All values of node labels, for rules that need cluster facts."]
        comment += [f"  {hint.file} has {hint.key}: {_flow(hint.values)}" for hint in differing[:_MOST_HINTS]]
        example = "  topology.kubernetes.io/zone: [eu-west-1a, eu-west-1b, eu-west-1c]"
        lines = [f"  {hint.key}: {_flow(hint.values)}" for hint in differing[:1]] or [example]
        yield _section(comment, ["domains:", *lines], is_set=False)


def _flow(values: Sequence[str]) -> str:
    """Return a YAML list in one line; JSON's texts in double quotes are YAML's, too."""
    words = (value if _PLAIN.match(value) else json.dumps(value, ensure_ascii=False) for value in values)
    return f"[{', '.join(words)}]"


PRE_COMMIT = ".pre-commit-config.yaml"
REPOSITORY_URL = "https://github.com/kubectl-spread/kubectl-spread"
_NAMES = ("kubectl-spread/kubectl-spread", "kubectl-spread.git")


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
    """The files to write in a repository, and the reason for each setting."""

    root: str
    repository: Repository
    proposal: Proposal
    changes: tuple[FileChange, ...]


def plan_setup(directory: str) -> SetupPlan:
    """Return the files for the repository of a directory, without writing any.

    Raises:
        SourceError: the directory or an existing file cannot be read.
        ConfigError: the existing configuration is invalid.
    """
    start = os.path.abspath(directory)
    root = next((here for here in files.upwards(start) if os.path.exists(os.path.join(here, ".git"))), start)
    repository = scan(root)
    proposal = propose(repository)
    changes = [_config(root, proposal)]
    if os.path.exists(os.path.join(root, ".git")):
        changes.append(_pre_commit(root, proposal))
    return SetupPlan(root, repository, proposal, tuple(changes))


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
        atomic_write.write(change.path, change.after)
        written.append(change.path)
    return written


def _text(path: str) -> Optional[str]:
    """Return the text of a file with its line ends; None if it does not exist.

    Raises:
        SourceError: it exists and cannot be read.
    """
    return files.read_text(path).text if os.path.lexists(path) else None


def _config(root: str, proposal: Proposal) -> FileChange:
    path = next((item for name in files.CONFIGS if os.path.lexists(item := os.path.join(root, name))), None)
    if path is None:
        return FileChange(os.path.join(root, files.CONFIGS[0]), None, config_text(proposal))
    config.load(path)  # an invalid configuration must be corrected first
    before = _text(path) or ""
    keys = _plain(before)
    added = additions(proposal, keys if isinstance(keys, dict) else ())
    if not added:
        return FileChange(path, before, before)
    newline = "\r\n" if "\r\n" in before else "\n"
    end = "" if not before or before.endswith("\n") else newline
    after = f"{before}{end}{newline if before else ''}{added.replace(chr(10), newline)}"
    wanted = {**(keys if isinstance(keys, dict) else {}), **(_plain(added) or {})}
    return FileChange(path, before, after) if _plain(after) == wanted else FileChange(path, before, before, added)


def _pre_commit(root: str, proposal: Proposal) -> FileChange:
    path = os.path.join(root, PRE_COMMIT)
    hook = "kubectl-spread-project" if proposal.compares_files else "kubectl-spread"
    item = {"repo": REPOSITORY_URL, "rev": f"v{__version__}", "hooks": [{"id": hook}]}
    stanza = f"- repo: {item['repo']}\n  rev: {item['rev']}\n  hooks:\n  - id: {hook}\n"
    before = _text(path)
    if before is None:
        return FileChange(path, None, f"repos:\n{stanza}")
    plain = _plain(before)
    if _has_hook(plain):
        return FileChange(path, before, before)
    after = _with_item(before, item)
    return FileChange(path, before, before, stanza) if after is None else FileChange(path, before, after)


def _has_hook(plain: Any) -> bool:
    """Return whether the pre-commit configuration has one of our hooks, from our repository or a local one."""
    repos = plain.get("repos") if isinstance(plain, dict) else None
    for repo in repos if isinstance(repos, list) else ():
        if isinstance(repo, dict):
            hooks = repo.get("hooks")
            ids = [str(hook.get("id")) for hook in hooks if isinstance(hook, dict)] if isinstance(hooks, list) else []
            if str(repo.get("repo")).endswith(_NAMES) or any(name.startswith("kubectl-spread") for name in ids):
                return True
    return False


def _with_item(text: str, item: dict[str, Any]) -> Optional[str]:
    """Return the text of a pre-commit configuration with another repository; None if it cannot be edited safely."""
    documents = list(compose(SourceFile(PRE_COMMIT, text)))
    document = documents[0] if len(documents) == 1 else None
    if not isinstance(document, Document):
        return None
    addition = Append(("repos",), item)
    try:
        after = with_edits(text, edits(document, [addition]))
        wanted = apply_changes(document.plain, [addition])
    except (NoEditError, KeyError, TypeError, AttributeError):
        return None
    return after if _plain(after) == wanted else None


def _plain(text: str) -> Any:
    """Return the value of the only document of a text; None if it has another number of documents, or is not YAML."""
    documents = list(compose(SourceFile("", text)))
    return documents[0].plain if len(documents) == 1 and isinstance(documents[0], Document) else None
