"""Plan of the files that `init` writes: new ones, and additions to existing ones."""

from __future__ import annotations

import os
from typing import Any, NamedTuple, Optional

from kubectl_spread import __version__
from kubectl_spread.errors import SourceError
from kubectl_spread.operations.setup.config_text import additions, config_text
from kubectl_spread.sources import atomic_write, config, files
from kubectl_spread.sources.repository.proposal import Proposal, propose
from kubectl_spread.sources.repository.scan import Repository, scan
from kubectl_spread.text.compose import compose, Document
from kubectl_spread.text.edit import Append, apply_changes, edits, NoEditError, with_edits
from kubectl_spread.text.source import SourceFile

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
    root = _root(directory)
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


def _root(directory: str) -> str:
    """Return the root of the repository that a directory is in, or else the directory itself."""
    start = here = os.path.abspath(directory)
    while not os.path.exists(os.path.join(here, ".git")):
        if os.path.dirname(here) == here:
            return start
        here = os.path.dirname(here)
    return here


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
