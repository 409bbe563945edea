"""Topology keys that are nearly a well-known label, which SPR302 reports and other rules leave to it."""

from __future__ import annotations

from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.topology_keys import intended_key, is_unknown


def is_absent(key: str, project: Project) -> bool:
    """Return whether no node has the label because it is a misspelt one of Kubernetes."""
    is_there = project.facts is not None and key in project.facts.node_keys
    return "/" in key and not is_there and bool(intended_key(key))


def is_reported(key: str, project: Project) -> bool:
    """Return whether SPR302 reports the key.

    If nodes are known, SPR901 and SPR902 report a key without a prefix, and a key that resembles no well-known label.
    """
    facts = project.facts
    if facts is None:
        return bool(intended_key(key)) or is_unknown(key)
    return "/" in key and key not in facts.node_keys and bool(intended_key(key))
