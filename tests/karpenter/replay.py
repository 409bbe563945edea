"""Recorded rounds of Karpenter's solver, played by `provisioners`, in the form that the recordings have."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.shapes import SHAPES
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects import resources
from kubectl_spread.objects.selectors import ZONE
from kubectl_spread.provisioners import reading, refusals, solve
from kubectl_spread.provisioners.reading import Options, Provisioning
from kubectl_spread.provisioners.requirement import WELL_KNOWN
from kubectl_spread.provisioners.solve import Outcome, Solution

RECORDINGS = Path(__file__).parent / "recordings"
MOST_STEPS = 100_000
PROVIDER = "karpenter.test.sh"  # of the recorder's own cloud provider

Plain = dict[str, Any]


class Case(NamedTuple):
    """A recorded case, and what `provisioners` reads of it."""

    plain: Plain
    cluster: Cluster
    provisioning: Provisioning

    @property
    def id(self) -> str:
        return str(self.plain["id"])

    @property
    def expected(self) -> Plain:
        found: Plain = self.plain["expected"]
        return found


def plains(directory: Path) -> Iterator[Plain]:
    """Yield the recorded cases of all files of a directory."""
    for path in sorted(directory.glob("*.ndjson.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def options(plain: Plain) -> Options:
    """Return the settings under which a case was recorded."""
    given = plain.get("options") or {}
    return Options(
        ignores_preferences=given.get("preferencePolicy") == "Ignore",
        relaxes_min_values=given.get("minValuesPolicy") == "BestEffort",
        well_known=WELL_KNOWN | set(given.get("wellKnownLabels") or ()),
        provider=PROVIDER,
    )


def read(plain: Plain) -> Case:
    """Read a case."""
    cluster = cluster_of(item for item in plain["objects"] if item["kind"] in SHAPES)
    provisioning = reading.read(
        plain["objects"], cluster, table=plain["instanceTypes"] or {"*": []}, options=options(plain)
    )
    return Case(plain, cluster, provisioning)


def solution(case: Case) -> Solution:
    """Return what `provisioners` predicts for a case, with a longer search than a command makes."""
    named = {name if "/" in name else f"default/{name}" for name in case.plain["pending"]}
    pending = [pod for pod in case.cluster.pods if pod.key in named]
    return solve.solve(case.cluster, pending, case.provisioning, most_steps=MOST_STEPS)


def workload(key: str) -> str:
    """Return the workload of a pod; its pods are interchangeable."""
    return key.rpartition("-")[0]


def cause(refusal: refusals.Refusal) -> str:
    """Return a cause as the recordings name it."""
    keyed = ("requirement", "unknown-label", "spread", "affinity", "antiaffinity")
    name = refusal.cause.value
    return f"{name}:{refusal.key}" if name in keyed else name


def as_recorded(case: Case, outcome: Outcome, ignored: dict[str, str]) -> Plain:
    """Return an outcome in the form of the recordings."""
    found: Plain = {
        "newNodeClaims": [
            {
                "pool": node.pool,
                "requirements": {key: str(item).removeprefix(f"{key} ") for key, item in node.requirements.items()},
                "instanceTypes": list(node.types),
                "zones": list(node.zones),
                "capacityTypes": list(node.capacity_types),
                "requests": {name: resources.amount(name, number) for name, number in node.requests.items()},
                "pods": sorted(pod.key for pod in node.pods),
            }
            for node in outcome.nodes
        ],
        "existingNodes": {name: sorted(pod.key for pod in placed) for name, placed in outcome.existing.items()},
        "podErrors": {
            key: [text for reason in reasons for text in refusals.texts(reason)]
            for key, reasons in outcome.errors.items()
        },
        "causes": {key: [cause(reason) for reason in reasons] for key, reasons in outcome.errors.items()},
        "ignoredPods": ignored,
    }
    return found


def anonymous(outcome: Plain) -> str:
    """Return what two equal outcomes have in common: pods of one workload are interchangeable."""
    claims = sorted(
        json.dumps(
            [item[field] for field in ("pool", "requirements", "instanceTypes", "zones", "capacityTypes", "requests")]
            + [sorted(map(workload, item["pods"]))],
            sort_keys=True,
        )
        for item in outcome.get("newNodeClaims") or ()
    )
    existing = {
        name: sorted(map(workload, placed)) for name, placed in sorted((outcome.get("existingNodes") or {}).items())
    }
    failed = sorted(Counter(map(workload, outcome.get("podErrors") or {})).items())
    refused = sorted(Counter(map(workload, outcome.get("ignoredPods") or {})).items())
    return json.dumps([claims, existing, failed, refused], sort_keys=True)


def zones_of(case: Case) -> dict[str, str]:
    """Return the zone of each node; the recorder knows none of a claim without a node."""
    found = dict.fromkeys((claim.name for claim in case.provisioning.claims), "")
    return {**found, **{node.name: node.labels.get(ZONE, "") for node in case.cluster.nodes}}


def measures(case: Case, outcome: Plain) -> Plain:
    """Return the items of an outcome that the recordings list as invariant if they are always equal."""
    claims, existing = outcome["newNodeClaims"], outcome["existingNodes"]
    zones = zones_of(case)
    per_zone: Counter[str] = Counter()
    shapes: dict[str, Counter[str]] = {}
    places = [("|".join(item["zones"]), item["pods"]) for item in claims]
    places += [(zones[name], placed) for name, placed in existing.items()]
    for zone, placed in places:
        for key in placed:
            per_zone[zone] += 1
            shapes.setdefault(workload(key), Counter())[zone] += 1
    causes: dict[str, set[str]] = {}
    for key, found in outcome["causes"].items():
        causes.setdefault(workload(key), set()).update(found)

    def per_workload(keys: Any) -> dict[str, int]:
        return dict(Counter(map(workload, keys)))

    return {
        "nodeClaims": len(claims),
        "nodeClaimsPerPool": dict(Counter(item["pool"] for item in claims)),
        "nodeClaimsPerPoolAndZones": dict(Counter(f"{item['pool']}@{'|'.join(item['zones'])}" for item in claims)),
        "podsOnNewNodesPerWorkload": per_workload(key for item in claims for key in item["pods"]),
        "podsOnExistingNodesPerWorkload": per_workload(key for placed in existing.values() for key in placed),
        "podsPerExistingNode": {name: len(placed) for name, placed in existing.items()},
        "podsPerZone": dict(per_zone),
        "podsPerZoneShape": {name: sorted(found.values()) for name, found in shapes.items()},
        "podsPerNodeClaim": sorted(
            f"{item['pool']} {json.dumps(per_workload(item['pods']), sort_keys=True, separators=(',', ':'))}"
            for item in claims
        ),
        "podsWithErrorsPerWorkload": per_workload(outcome["podErrors"]),
        "causesPerWorkload": {name: sorted(found) for name, found in causes.items()},
        "ignored": len(outcome["ignoredPods"]),
    }


class Comparison(NamedTuple):
    """A prediction beside its recording.

    missing: recorded outcomes that are not predicted.
    wrong: items that are predicted to be always equal, and are not, or are another value.
    undecided: items that were always equal, and are predicted to differ; the recorded value is among the predicted.
    texts: recorded error texts that are not predicted for their workload.
    """

    missing: tuple[str, ...]
    wrong: tuple[str, ...]
    undecided: tuple[str, ...]
    texts: tuple[str, ...]
    is_complete: bool
    outcomes: int


def compare(case: Case, found: Solution) -> Comparison:
    """Compare a prediction with its recording."""
    ignored = {answer.pod.key: "; ".join(answer.ignored) for answer in found.answers if answer.ignored}
    predicted = [as_recorded(case, outcome, ignored) for outcome in found.outcomes]
    keys = {anonymous(outcome) for outcome in predicted}
    missing = [json.dumps(item) for item in case.expected["outcomes"] if anonymous(item) not in keys]
    wrong, undecided = [], []
    values: dict[str, list[str]] = {}
    for outcome in predicted:
        for name, value in measures(case, outcome).items():
            values.setdefault(name, []).append(json.dumps(value, sort_keys=True))
    recorded = case.expected["invariant"]
    for name, seen in values.items():
        distinct = set(seen)
        if name not in recorded:
            if len(distinct) == 1:
                wrong.append(f"{name}: always {seen[0]}, but it differs")
        elif json.dumps(recorded[name], sort_keys=True) not in distinct:
            wrong.append(f"{name}: {sorted(distinct)}, recorded {json.dumps(recorded[name], sort_keys=True)}")
        elif len(distinct) > 1:
            undecided.append(f"{name}: {sorted(distinct)}, recorded {json.dumps(recorded[name], sort_keys=True)}")
    said = {
        (workload(key), text_parts(text))
        for outcome in predicted
        for field in ("podErrors", "ignoredPods")
        for key, texts in outcome[field].items()
        for text in ([texts] if isinstance(texts, str) else texts)
    }
    texts = {
        f"{key}: {text}"
        for outcome in case.expected["outcomes"]
        for field in ("podErrors", "ignoredPods")
        for key, found_texts in (outcome.get(field) or {}).items()
        for text in ([found_texts] if isinstance(found_texts, str) else found_texts)
        if (workload(key), text_parts(text)) not in said
    }
    return Comparison(
        tuple(missing), tuple(wrong), tuple(undecided), tuple(sorted(texts)), found.is_complete, len(predicted)
    )


def text_parts(text: str) -> tuple[str, ...]:
    """Return the parts of a text in a fixed order, since Karpenter joins several at random."""
    return tuple(sorted(text.split("; ")))
