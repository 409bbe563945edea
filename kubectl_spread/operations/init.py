"""Plan of the files that `init` writes: a commented configuration, a hook, and additions to existing files."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Container, Sequence
from typing import Any, NamedTuple, Optional

from kubectl_spread import __version__
from kubectl_spread.errors import SourceError
from kubectl_spread.sources import atomic_write, config, files
from kubectl_spread.sources.repository import Proposal, propose, Repository, scan
from kubectl_spread.text.compose import compose, Document
from kubectl_spread.text.edit import Append, apply_changes, edits, NoEditError, with_edits
from kubectl_spread.text.source import SourceFile
from kubectl_spread.text.wording import comma_list

_SITE = "https://github.com/kubectl-spread/kubectl-spread"
_SCHEMA = "https://raw.githubusercontent.com/kubectl-spread/kubectl-spread/main/schemas/config.json"
_PLAIN = re.compile(
    r"(?![.-]?\d)(?!(?i:true|false|yes|no|on|off|null|y|n)\Z)[A-Za-z0-9_./][A-Za-z0-9_./-]*\Z", re.ASCII
)
_MOST_NAMES = 3  # in a comment


def config_text(proposal: Proposal) -> str:
    """Return a whole configuration: the profile, and the settings that something in the repository suggests."""
    head = f"# Settings of `kubectl spread check`: {_SITE}/blob/main/docs/configuration.md\n"
    return "".join([head, f"# yaml-language-server: $schema={_SCHEMA}\n", *_settings(proposal).values()])


def additions(proposal: Proposal, present: Container[str]) -> str:
    """Return the settings that a configuration with some keys lacks; empty if there are none."""
    settings = _settings(proposal)
    return "".join(text for key, text in settings.items() if key not in present and key != "profile")


def _settings(proposal: Proposal) -> dict[str, str]:
    """Return each setting below the reason for it."""
    found = {
        "profile": "# Rules: minimal (errors only), default, or strict (all rules, with opinions).\nprofile: default\n"
    }
    if proposal.version:
        where = comma_list(dict.fromkeys(hint.file for hint in proposal.versions), most=_MOST_NAMES)
        reason = f"# The lowest version of the kubelets in {where}.\n"
        found["kubernetesVersion"] = f'{reason}kubernetesVersion: "{proposal.version}"\n'
    if proposal.domains:
        where = comma_list(dict.fromkeys(hint.file for hint in proposal.zones), most=_MOST_NAMES)
        lines = "".join(f"  {key}: {_flow(values)}\n" for key, values in proposal.domains.items())
        found["domains"] = f"# Labels of the nodes in {where}.\ndomains:\n{lines}"
    if proposal.vendored:
        reason = "# Manifests of other projects, without topology spread constraints.\n"
        found["exclude"] = f"{reason}exclude: {_flow(proposal.vendored)}\n"
    if proposal.roots:
        reason = "# Directories with copies of the same objects, each for a cluster of its own.\n"
        found["roots"] = f"{reason}roots: {_flow(proposal.roots)}\n"
    return found


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
