"""CPU time of whole processes, against the budgets; `make bench` runs it.

The median of several runs, user and system time of the child, in milliseconds.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 15

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web-{number}
  labels: {{app: web-{number}}}
spec:
  replicas: 3
  selector:
    matchLabels:
      app: web-{number}
  template:
    metadata:
      labels:
        app: web-{number}
    spec:
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector:
          matchLabels:
            app: web-{number}
      containers:
      - name: web
        image: registry.example/web:1.25
        resources:
          requests: {{cpu: 100m, memory: 64Mi}}
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata:
  name: web-{number}
spec:
  selector: {{app: web-{number}}}
  ports:
  - port: 80
    targetPort: 8080
"""
KNATIVE = DEPLOYMENT.replace("apps/v1", "serving.knative.dev/v1").replace("kind: Deployment", "kind: Service")
ROLLOUT = DEPLOYMENT.replace("apps/v1", "argoproj.io/v1alpha1").replace("kind: Deployment", "kind: Rollout")


CONFIG = """\
ignore: [SPR5]
severity: {SPR204: error}
kubernetesVersion: 1.34
perFile:
- {files: charts/**, ignore: [SPR304]}
ignores:
- {rule: SPR401, name: web, reason: it is never rolled out}
"""


def cpu_ms(arguments: list[str]) -> float:
    """CPU milliseconds of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def main() -> int:
    """Measure and print; 1 where a median is over its budget."""
    program = str(Path(sys.executable).with_name("kubectl-spread"))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        one = root / "one.yaml"
        one.write_text(DEPLOYMENT.format(number=1))
        stream = root / "stream.yaml"
        stream.write_text("---\n".join(DEPLOYMENT.format(number=number) for number in range(2000)))
        config = root / "config.yaml"
        config.write_text(CONFIG)
        others = root / "others"
        others.mkdir()
        for number in range(300):
            (others / f"{number}.yaml").write_text("---\n".join([SERVICE.format(number=number)] * 4))
        mixed = root / "mixed"
        mixed.mkdir()
        for number in range(1000):
            kind = (SERVICE, KNATIVE, DEPLOYMENT, ROLLOUT)[number % 50] if number % 50 < 4 else SERVICE
            (mixed / f"{number}.yaml").write_text(kind.format(number=number))
        measured = [
            ("--help", [program, "--help"], 80, RUNS),
            ("--version", [program, "--version"], 80, RUNS),
            ("usage error", [program, "check", "--bogus"], 80, RUNS),
            ("check, one manifest", [program, "check", str(one)], 120, RUNS),
            ("check, one manifest, all rules", [program, "check", "--profile", "strict", str(one)], 120, RUNS),
            ("check, one manifest and a config", [program, "check", "--config", str(config), str(one)], 120, RUNS),
            (
                f"check, 2,000 Deployments ({os.path.getsize(stream) / 1e6:.1f} MB)",
                [program, "check", "--profile", "strict", str(stream)],
                2000,
                5,
            ),
            (
                "check, 1,000 mixed files, 60 of them workloads",
                [program, "check", "--profile", "strict", str(mixed)],
                1000,
                5,
            ),
            ("check, 300 files without a workload", [program, "check", str(others)], 250, RUNS),
        ]
        return report(measured)


def report(measured: list[tuple[str, list[str], int, int]]) -> int:
    failed = 0
    print(f"{'what':45} {'min':>7} {'median':>7} {'budget':>7}  ms CPU")
    for name, arguments, budget, runs in measured:
        times = [cpu_ms(arguments) for _ in range(runs)]
        median = statistics.median(times)
        failed |= median > budget
        print(f"{name:45} {min(times):7.0f} {median:7.0f} {budget:7}  {'over' if median > budget else ''}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
