"""Ask one plugin about one pod on a small cluster, so that a failure names the plugin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.releases.version import LATEST, Release
from kubectl_spread.scheduler.framework.plugin import Profile, Rejection, Skip, status_of
from kubectl_spread.scheduler.profiles import profiles

Plain = dict[str, Any]

SKIP = "skip"  # PreFilter has nothing to filter
FITS = ""


@dataclass(frozen=True)
class U:
    """Unschedulable: the node may fit after an eviction."""

    reason: str


@dataclass(frozen=True)
class UU:
    """UnschedulableAndUnresolvable: no eviction helps."""

    reason: str


Answer = Union[str, U, UU]


def filtered(
    plugin: str,
    incoming: Plain,
    *objects: Plain,
    arguments: Optional[Plain] = None,
    release: Release = LATEST,
) -> Union[str, UU, dict[str, Answer]]:
    """Return a Filter plugin's answer per node; SKIP or the rejection if PreFilter answers for all nodes.

    Several reasons of a node are joined with `; `.
    """
    profile, columns, asked = _asked(incoming, objects, plugin, arguments, release)
    (found,) = [item for item in profile.pre_filter if item.name == plugin]
    state = found.pre_filter(asked, columns)
    if isinstance(state, Skip):
        return SKIP
    if isinstance(state, Rejection):
        return UU(state.message)
    answers: dict[str, Answer] = {}
    for node, bits in zip(columns.nodes, state.filter(), strict=True):
        status = status_of(plugin, state.reasons, int(bits))
        code = U if status.code.value == "Unschedulable" else UU
        answers[node.name] = code("; ".join(status.reasons)) if bits else FITS
    return answers


def scored(
    plugin: str,
    incoming: Plain,
    *objects: Plain,
    feasible: Optional[tuple[str, ...]] = None,
    arguments: Optional[Plain] = None,
    release: Release = LATEST,
) -> Optional[dict[str, int]]:
    """Return the normalized, unweighted score per feasible node (default: all nodes); None if PreScore skips."""
    profile, columns, asked = _asked(incoming, objects, plugin, arguments, release)
    (found,) = [item.plugin for item in profile.score if item.plugin.name == plugin]
    names = [node.name for node in columns.nodes if feasible is None or node.name in feasible]
    scores = found.pre_score(asked, columns).score(np.array([columns.index[name] for name in names]))
    if scores is None:
        return None
    return {name: int(score) for name, score in zip(names, np.broadcast_to(scores, len(names)), strict=True)}


def _asked(
    incoming: Plain, objects: tuple[Plain, ...], plugin: str, arguments: Optional[Plain], release: Release
) -> tuple[Profile, Columns, PodClass]:
    config = {"profiles": [{"pluginConfig": [{"name": plugin, "args": arguments}]}]} if arguments else None
    (profile,) = profiles(config, release).values()
    asked = read.pod(incoming)
    return profile, Columns(cluster_of(objects)), asked.cls._replace(node_name=asked.node_name)
