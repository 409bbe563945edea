"""Generator of examples/README.md: each problem with a command, what the command says, and the rule.

`python docs/examples.py` rewrites the page. With `--check` it only reports whether the page is current.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML

from kubectl_spread.cli.main import run

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "examples" / "README.md"
SCENARIOS = ROOT / "examples" / "scenarios"
PROVISIONERS = ROOT / "examples" / "provisioners"

Plain = dict[str, Any]

INTRODUCTION = """# Examples

Find your problem below, change to its folder in `scenarios/`, and run the command. `before.yaml` shows the problem and
`after.yaml` a solution. `cluster.yaml` describes a made-up cluster, and `snapshot.yaml` is what kubectl printed of one.
`expect.yaml` is what the tests compare.

`simulations/` has [scenarios over time](../docs/simulate.md#keep-what-ifs-as-tests): rollouts, drains, outages,
scaling, volumes, and a Redis cluster of many shards. `kubectl spread simulate run simulations/` runs them.

`guarantee/` has policies for that Redis cluster ([prove a policy](../docs/guarantee.md)).

`rebalance/` has clusters whose constraints are violated ([repair](../docs/rebalance.md)):
`kubectl spread rebalance -A --soft --snapshot rebalance/zone-came-back.yaml`.

`kubectl spread demo` walks through `shop/`: a manifest with mistakes, a Pending pod, a solution, a simulation.
"""

KARPENTER = """`facts.yaml` has the NodePools and nodes, and `types.yaml` the instance types. `before.yaml` shows
the problem, and with `after.yaml` all pods find a node ([with Karpenter](../docs/karpenter.md))."""

GROUPS = {
    "Nodes that count and take no pods": (
        "control-plane-counts-as-empty-node",
        "tainted-zone-stays-empty",
        "cordoned-node-stays-empty",
        "cordoned-without-taint-still-counts",
        "unready-node-still-counts",
        "windows-nodes-still-count",
        "fargate-nodes-still-count",
        "two-taints-keep-the-minimum-at-zero",
        "affinity-policy-ignore-counts-excluded-zone",
        "full-zone-limits-all-zones",
        "smallest-zone-limits-all-zones",
        "new-empty-zone-is-too-small",
    ),
    "Labels and topology keys": (
        "no-node-has-a-zone-label",
        "nodes-without-zone-label-stay-empty",
        "pods-on-unlabelled-nodes-do-not-count",
        "soft-constraint-skips-unlabelled-node",
        "mistyped-topology-key",
        "missing-rack-label-hides-a-zone",
        "two-nodes-share-a-hostname",
        "one-rack-in-two-spellings",
        "empty-label-value-is-a-zone",
    ),
    "Selectors: which pods count": (
        "selector-misses-own-pods",
        "selector-missing",
        "selector-empty",
        "selector-counts-another-component",
        "selector-counts-the-canary",
        "selector-counts-a-daemonset",
        "selector-counts-only-some-pods",
        "other-namespaces-do-not-count",
        "finished-pods-do-not-count",
        "terminating-pod-does-not-count",
        "api-server-adds-to-the-selector",
    ),
    "Constraints that conflict": (
        "even-zones-and-even-nodes-conflict",
        "zone-and-node-want-different-nodes",
        "pod-affinity-against-spread",
        "anti-affinity-of-another-workload",
        "anti-affinity-against-zone-spread",
        "anti-affinity-allows-one-pod-per-zone",
        "capacity-types-split-evenly",
        "min-domains-out-of-reach",
        "message-hides-other-reasons",
    ),
    "Constraints with little effect": (
        "skew-1-is-not-one-pod-per-node",
        "soft-constraint-outvoted",
        "own-constraint-ends-the-defaults",
        "constraint-on-a-daemonset",
    ),
    "Rollouts and scaling": (
        "rollout-counts-old-pods",
        "rollout-ends-uneven",
        "surge-pod-has-no-node",
        "rollout-blocked-by-anti-affinity",
        "rollout-blocked-by-host-port",
        "revision-key-on-a-statefulset",
        "scale-down-empties-zones",
    ),
    "Outages, drains and autoscalers": (
        "zone-outage-limits-other-zones",
        "zone-outage-puts-quorum-in-one-zone",
        "unreachable-zone-takes-pods",
        "returned-zone-stays-empty",
        "drain-blocked-by-budget",
        "node-cannot-be-removed",
        "descheduler-evicts-for-nothing",
        "zone-without-nodes-gets-none",
        "provisioner-counts-more-zones",
        "preemption-ignores-other-nodes-of-the-zone",
    ),
    "Volumes": (
        "volumes-pin-pods-to-zones",
        "scale-up-takes-the-place-of-a-pod",
        "local-volume-pins-a-pod",
        "volume-chosen-before-the-pod",
        "storage-class-of-one-zone",
        "volume-made-for-the-wrong-zone",
    ),
    "Manifests that the API server rejects or changes": (
        "refused-values",
        "match-key-in-selector",
        "duplicate-constraint",
        "constraints-at-the-wrong-level",
    ),
}


class Answer(NamedTuple):
    """What a command says: its arguments, the sentence, and the rule if a finding says it."""

    arguments: list[str]
    text: str
    rule: str = ""


def page() -> str:
    """Return the whole page."""
    parts = [INTRODUCTION]
    for heading, names in GROUPS.items():
        rows = [_row(name) for name in names]
        head = "| problem | `kubectl spread` ... | what it says | rule |\n|---|---|---|---|"
        parts.append(f"## {heading}\n\n{head}\n" + "\n".join(rows) + "\n")
    rows = [_provisioned(path) for path in sorted(PROVISIONERS.glob("*/expect.yaml"))]
    parts.append(
        f"## With Karpenter\n\n{KARPENTER}\n\n| problem | `kubectl spread` ... | what it says |\n|---|---|---|\n"
        + "\n".join(rows)
        + "\n"
    )
    return "\n".join(parts)


def main() -> int:
    """Write the page, or only compare it with --check."""
    current = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(current, encoding="utf-8")
    elif not PAGE.exists() or current != PAGE.read_text(encoding="utf-8"):
        sys.stderr.write("examples/README.md is not current: run `make docs`\n")
        return 1
    return 0


def _provisioned(path: Path) -> str:
    case = YAML(typ="safe", pure=True).load(path)
    cells = (f"[{case['problem']}](provisioners/{path.parent.name})", f"`{case['command']}`", f"... {case['says']}")
    return f"| {' | '.join(cells)} |"


def _row(name: str) -> str:
    folder = SCENARIOS / name
    case = YAML(typ="safe", pure=True).load(folder / "expect.yaml")[0]
    problem = _first_sentence(_comment(folder / case["manifest"]))
    answer = _answer(folder, case)
    cells = (f"[{problem}](scenarios/{name})", f"`{' '.join(answer.arguments)}`", answer.text, answer.rule)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _answer(folder: Path, case: Plain) -> Answer:
    """Return the finding that the scenario is about; else what `explain` says first."""
    option = "--snapshot" if "snapshot" in case else "--topology"
    facts = case.get("snapshot") or case.get("cluster", "cluster.yaml")
    codes = [entry.partition("@")[0] for entry in case.get("findings") or case.get("offline") or ()]
    codes += case.get("refused") or []
    if codes:
        selected = ["--extend-select", case["select"]] if "select" in case else []
        arguments = ["check", case["manifest"], *([option, facts] if "findings" in case else []), *selected]
        found = _document(folder, arguments)["findings"]
        (finding, *_) = [item for item in found if item["code"] == codes[0]]
        return Answer(arguments, finding["message"], f"{finding['code']} {finding['name']}")
    arguments = ["explain", *([case["target"]] if "target" in case else ["-f", case["manifest"]]), option, facts]
    summary = _summary(_document(folder, arguments))
    if summary:
        return Answer(arguments, summary)
    arguments = ["check", case["manifest"], option, facts]
    return Answer(arguments, _placement(_output(folder, arguments)))


def _summary(document: Plain) -> str:
    """Return the verdict of the first pod that stays Pending; empty if all pods fit."""
    items = document.get("items", [document])
    return next((item["summary"] for item in items if item["verdict"] == "Pending"), "")


def _placement(output: str) -> str:
    """Return how many replicas of the workload are placed, and the counts of its first topology key."""
    lines = output.splitlines()
    at = next(at for at, line in enumerate(lines) if " replicas placed" in line or " pods placed" in line)
    return f"{lines[at]}; {lines[at + 1].strip()}"


def _document(folder: Path, arguments: list[str]) -> Plain:
    document: Plain = json.loads(_output(folder, [*arguments, "-o", "json"]))
    return document


def _output(folder: Path, arguments: list[str]) -> str:
    """Return what a command prints in a folder."""
    output = io.StringIO()
    before = os.getcwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
            run(arguments)
    finally:
        os.chdir(before)
    return output.getvalue()


def _comment(path: Path) -> str:
    """Return the comment at the top of a file, in one line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    end = next(at for at, line in enumerate(lines) if not line.startswith("#"))
    return " ".join(line.removeprefix("#").strip() for line in lines[:end])


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].removesuffix(".")


if __name__ == "__main__":
    sys.exit(main())
