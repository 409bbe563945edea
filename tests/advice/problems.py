"""The problems of files: of what is Pending in a snapshot, and of what a manifest's pods would become."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kubectl_spread.advice.problem import of_placements, of_pod, PendingPodProblem
from kubectl_spread.explain.explanation import explain
from kubectl_spread.explain.replicas import place
from kubectl_spread.lint.check_source import check_source
from kubectl_spread.lint.project import Project
from kubectl_spread.scheduler.profiles import profiles
from kubectl_spread.sources import files, manifest_objects, snapshot, topology


def problems(manifest: Path, option: str, facts: Path) -> Iterator[PendingPodProblem]:
    """Those of a manifest's pods, and those of the pods that are Pending in the cluster facts."""
    known = profiles()
    cluster = snapshot.load(str(facts)).cluster if option == "--snapshot" else topology.load(str(facts))
    for pod in cluster.pending():
        found = of_pod(explain(pod, cluster, known), cluster, known)
        if found is not None:
            yield found
    source = files.read_text(str(manifest))
    result = check_source(source, named=True, codes=(), namespace="default")
    workloads = Project(result.subjects, result.others).workloads
    cluster = manifest_objects.with_manifests(cluster, [source], "default")[0]
    placements = place(workloads, cluster, known)
    for at in range(len(placements)):
        found = of_placements(placements, at, cluster, known)
        if found is not None:
            yield found
