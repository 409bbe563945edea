"""The shop example: its files, and the steps of the demo."""

from __future__ import annotations

import os
from typing import NamedTuple

from kubectl_spread.cli.exit import Exit

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = "shop"


class DemoStep(NamedTuple):
    """A command of the demo, the reason to run it, and its exit code."""

    name: str
    reason: str
    words: tuple[str, ...]
    code: int


STEPS = (
    DemoStep(
        "mistakes",
        "A manifest with four mistakes. The API server would refuse it.",
        ("check", "shop/web-broken.yaml"),
        Exit.FINDINGS,
    ),
    DemoStep(
        "check",
        "A valid manifest. Will all replicas find a node in a cluster with 5 nodes?",
        ("check", "shop/web.yaml", "--snapshot", "shop/cluster.yaml"),
        Exit.FINDINGS,
    ),
    DemoStep(
        "explain",
        "Why is one of its pods Pending in that cluster, and which change would help?",
        ("explain", "pod", "web-6d4f9c7b58-9pdlw", "-n", "shop", "--snapshot", "shop/cluster.yaml"),
        Exit.FINDINGS,
    ),
    DemoStep(
        "fixed",
        "The same manifest with the first suggestion. All replicas find a node.",
        ("check", "shop/web-fixed.yaml", "--snapshot", "shop/cluster.yaml"),
        Exit.CLEAN,
    ),
    DemoStep(
        "status",
        "Another day: a node is cordoned, and a scale-down left the running pods uneven.",
        ("status", "-n", "shop", "--snapshot", "shop/running.yaml"),
        Exit.FINDINGS,
    ),
    DemoStep(
        "simulate",
        "Would a restart even them out?",
        ("simulate", "rollout", "restart", "deploy/web", "-n", "shop", "--snapshot", "shop/running.yaml"),
        Exit.FINDINGS,
    ),
)


def parent() -> str:
    """Return the directory that has the folder `shop`: inside the installed package, or else in the checkout."""
    inside = os.path.join(_PACKAGE, "examples")
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(_PACKAGE), "examples")
