"""A check takes work in proportion to its input. Executed lines are counted, not seconds."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from kubectl_spread.operations.check import check_files, CheckRequest
from kubectl_spread.operations.cluster_facts import ClusterSource

pytestmark = pytest.mark.slow

# No number is in two of them, because equal documents of two runs share work. Small inputs take another way.
FIRST, SMALL, LARGE = range(1000, 1090), range(2000, 2100), range(3000, 3200)
MOST = 2.2  # times the lines for twice the input; quadratic work would be up to 4

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web-{number}}}
spec:
  replicas: 3
  selector: {{matchLabels: {{app: {app}}}}}
  template:
    metadata: {{labels: {{app: {app}}}}}
    spec:
      containers: [{{name: web, image: web}}]
      topologySpreadConstraints:
"""
CONSTRAINT = "      - {{maxSkew: {skew}, topologyKey: {key}, whenUnsatisfiable: DoNotSchedule, {selector}}}{comment}\n"
BUDGET = """\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: budget-{number}}}
spec: {{maxUnavailable: 0, selector: {{matchLabels: {{app: web}}}}}}
"""
ZONE = "topology.kubernetes.io/zone"


def deployment(number: int, app: str = "web", *, skew: str = "1", key: str = ZONE, comment: str = "") -> str:
    selector = f"labelSelector: {{matchLabels: {{app: {app}}}}}"
    return DEPLOYMENT.format(number=number, app=app) + CONSTRAINT.format(
        skew=skew, key=key, selector=selector, comment=comment
    )


def stream(*texts: str) -> dict[str, str]:
    return {"all.yaml": "---\n".join(texts)}


def shared_labels(numbers: range) -> dict[str, str]:
    return stream(*map(deployment, numbers))


def neighbours(numbers: range) -> dict[str, str]:
    """Workloads with the same labels in a directory each."""
    return {f"dir-{number}/web.yaml": deployment(number) for number in numbers}


def nested_neighbours(numbers: range) -> dict[str, str]:
    return {f"{'x/' * (number % 7)}dir-{number}/web.yaml": deployment(number) for number in numbers}


def copies(numbers: range) -> dict[str, str]:
    """One object in a directory for each cluster."""
    return {f"cluster-{number}/web.yaml": deployment(1) for number in numbers}


def placeholders(numbers: range) -> dict[str, str]:
    return stream(*(deployment(number, f"app-{number}", skew="${SKEW}", key="${KEY}") for number in numbers))


def suppressions(numbers: range) -> dict[str, str]:
    comment = "  # spread: ignore[SPR302, SPR401] on purpose"
    return stream(*(deployment(number, f"app-{number}", key="zone", comment=comment) for number in numbers))


def unused_suppressions(numbers: range) -> dict[str, str]:
    comment = "  # spread: ignore[SPR101] on purpose"
    return stream(*(deployment(number, f"app-{number}", comment=comment) for number in numbers))


def one_list(numbers: range) -> dict[str, str]:
    items = (deployment(number, f"app-{number}").rstrip().replace("\n", "\n  ") for number in numbers)
    return {"all.yaml": "apiVersion: v1\nkind: List\nitems:\n" + "".join(f"- {item}\n" for item in items)}


def budgets(numbers: range) -> dict[str, str]:
    """As many budgets over the same few workloads."""
    return stream(*map(deployment, range(3)), *(BUDGET.format(number=number) for number in numbers))


def budgets_and_workloads(numbers: range) -> dict[str, str]:
    return stream(*map(deployment, numbers), *(BUDGET.format(number=number) for number in numbers))


def duplicates(numbers: range) -> dict[str, str]:
    selector = "labelSelector: {matchLabels: {app: web}}"
    again = CONSTRAINT.format(skew=1, key=ZONE, selector=selector, comment="")
    return stream(deployment(1) + again * len(numbers))


def constraints(numbers: range) -> dict[str, str]:
    """One workload with many constraints, none of which selects its pods."""
    others = (
        CONSTRAINT.format(
            skew=1, key=ZONE, selector=f"labelSelector: {{matchLabels: {{app: web-{number}}}}}", comment=""
        )
        for number in numbers
    )
    return stream(deployment(1) + "".join(others))


def keys(numbers: range) -> dict[str, str]:
    """One workload whose constraints have a key each."""
    selector = "labelSelector: {matchLabels: {app: web}}"
    others = (
        CONSTRAINT.format(skew=1, key=f"example.com/{number}", selector=selector, comment="") for number in numbers
    )
    return stream(deployment(1) + "".join(others))


def broken_templates(numbers: range) -> dict[str, str]:
    return {f"{number}.yaml": f'kind: Deployment\n{{{{ if .x }}}}\nspec: "{{{{ .y\n{FIELD}' for number in numbers}


NO_CLUSTER = ClusterSource()
FIELD = "topologySpreadConstraints: []\n"
INPUTS = (
    *(shared_labels, neighbours, nested_neighbours, copies, placeholders, suppressions, unused_suppressions),
    *(one_list, budgets, budgets_and_workloads, duplicates, constraints, keys, broken_templates),
)


def lines(paths: Path, source: ClusterSource = NO_CLUSTER) -> int:
    """Return how many lines of the program one check executes."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if "kubectl_spread" not in frame.f_code.co_filename:
            return None
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        check_files(CheckRequest((str(paths),), recursive=True, source=source))
    finally:
        sys.settrace(before)
    return count


def written(files: dict[str, str], directory: Path) -> Path:
    for name, text in files.items():
        (directory / os.path.dirname(name)).mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)
    return directory


@pytest.mark.parametrize("made", INPUTS, ids=lambda made: made.__name__)
def test_a_check_takes_linear_work(made: Callable[[range], dict[str, str]], tmp_path: Path) -> None:
    first, small, large = (written(made(numbers), tmp_path / str(len(numbers))) for numbers in (FIRST, SMALL, LARGE))
    lines(first)  # loads modules and patterns
    least = lines(small)

    assert lines(large) < MOST * least


@pytest.mark.parametrize("made", [duplicates, constraints, keys], ids=lambda made: made.__name__)
def test_many_constraints_of_a_workload_take_linear_work_on_a_cluster(
    made: Callable[[range], dict[str, str]], tmp_path: Path
) -> None:
    source = ClusterSource(topology="zones=3,nodes=2")
    first, small, large = (written(made(numbers), tmp_path / str(len(numbers))) for numbers in (FIRST, SMALL, LARGE))
    lines(first, source)
    least = lines(small, source)

    assert lines(large, source) < MOST * least
