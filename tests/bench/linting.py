"""`check` on many workloads, against its budgets; `make bench` runs it.

CPU seconds of whole processes, user and system time. Exits with 1 where a budget is missed. No work may grow faster
than the input: 2,000 Deployments that share their labels take as long as those with labels of their own.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.bench.startup import cpu_ms

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web-{number}}}
spec:
  replicas: 3
  selector: {{matchLabels: {{app: web-{number}, tier: web}}}}
  template:
    metadata: {{labels: {{app: web-{number}, tier: web}}}}
    spec:
      containers: [{{name: web, image: web}}]
      topologySpreadConstraints:
"""
CONSTRAINT = """\
      - maxSkew: {skew}
        topologyKey: {key}
        whenUnsatisfiable: {action}
        labelSelector: {{matchLabels: {{{labels}}}}}
"""
SOFT = "ScheduleAnyway"
WORKLOADS, FILES, CONSTRAINTS = 2000, 1000, 1600


def deployments(count: int, labels: str) -> Iterator[str]:
    """Deployments that spread by labels, in which `{number}` stands for their own."""
    for number in range(count):
        selected = labels.format(number=number)
        zone = CONSTRAINT.format(skew=1, key="topology.kubernetes.io/zone", action=SOFT, labels=selected)
        node = CONSTRAINT.format(skew=1, key="kubernetes.io/hostname", action=SOFT, labels=selected)
        yield DEPLOYMENT.format(number=number) + zone + node


def broken(count: int) -> str:
    """A Deployment whose constraints all have a fix."""
    keys = (f"example.com/k{number}" for number in range(count))
    hard = (CONSTRAINT.format(skew=0, key=key, action="DoNotSchedule", labels="tier: web") for key in keys)
    return DEPLOYMENT.format(number=0) + "".join(hard)


def write(folder: Path, texts: Iterator[str], directories: int) -> Path:
    """A repository: one file for each text."""
    for number, text in enumerate(texts):
        below = folder / f"{number % directories}"
        below.mkdir(parents=True, exist_ok=True)
        (below / f"{number}.yaml").write_text(text)
    return folder


def inputs(root: Path) -> Iterator[tuple[str, list[str], float]]:
    """What is measured: a name, the arguments, and the budget in seconds."""
    for name, labels in (("their own labels", "app: web-{number}"), ("shared labels", "tier: web")):
        file = root / f"{name}.yaml"
        file.write_text("---\n".join(deployments(WORKLOADS, labels)))
        yield f"{WORKLOADS:,} Deployments, {name}", [str(file)], 1.2
    flat = write(root / "flat", deployments(FILES, "app: web-{number}"), 50)
    yield f"{FILES:,} files", ["-R", str(flat)], 1.0
    for cluster in ("dev", "prod"):
        write(root / "clusters" / cluster, deployments(FILES // 2, "tier: web"), 50)
    yield f"{FILES:,} files, two copies of each object", ["-R", str(root / "clusters")], 1.0
    file = root / "broken.yaml"
    file.write_text(broken(CONSTRAINTS))
    yield f"--diff of {CONSTRAINTS:,} constraints", [str(file), "--diff", "--unsafe-fixes"], 2.0
    yield f"{CONSTRAINTS:,} constraints on 6 nodes", [str(file), "--topology", "zones=3,nodes=2"], 2.0


def main() -> int:
    """Measure and print; 1 where a budget is missed."""
    program = str(Path(sys.executable).with_name("kubectl-spread"))
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments, budget in inputs(Path(folder)):
            seconds = min(cpu_ms([program, "check", *arguments]) for _ in range(3)) / 1000
            failed |= seconds > budget
            over = "MISSED" if seconds > budget else ""
            print(f"{name:50} {seconds:6.2f} s {budget:5} s  {over}".rstrip())
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
