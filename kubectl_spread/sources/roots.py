"""Rules for roots from the command line, the config and kustomization files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from kubectl_spread.lint.roots import RootRules
from kubectl_spread.lint.selection import Config
from kubectl_spread.sources.kustomizing.kustomizations import kustomizations
from kubectl_spread.text.glob import Globs
from kubectl_spread.text.source import SourceFile


def root_rules(
    sources: Sequence[SourceFile], config: Config, *, directories: Iterable[str] = (), texts: Iterable[str] = ()
) -> RootRules:
    """Return the rules for the roots of a run.

    Args:
        sources: the texts of the run.
        config: its `roots`.
        directories: named on the command line.
        texts: the names of sources that are not files.
    """
    rendered = frozenset(texts)
    return RootRules(
        tuple(map(os.path.abspath, directories)),
        tuple(Globs(config.root, (pattern,)) for pattern in config.roots),
        rendered,
        kustomizations(source for source in sources if source.name not in rendered),
    )
