"""Read the cluster that a `ClusterSource` names, and place workloads on it."""

from __future__ import annotations

from typing import Optional, TYPE_CHECKING

from kubectl_spread.errors import RequestError, SourceError
from kubectl_spread.operations.inputs import cluster_source, notices
from kubectl_spread.operations.inputs.cluster_source import ClusterSource, LoadedCluster

if TYPE_CHECKING:  # these load numpy
    from kubectl_spread.cluster.snapshot import Cluster
    from kubectl_spread.objects.workloads.workload import Workload
    from kubectl_spread.simulate.placement import Placement
    from kubectl_spread.sources.live.reading import Session
    from kubectl_spread.sources.live.resources import Question
    from kubectl_spread.text.source import SourceFile


def open_session(source: ClusterSource) -> Optional[Session]:
    """Return a connection to the live cluster, or None if another source is named. Nothing is sent yet.

    Raises:
        RequestError: more than one source of facts is named.
        SpreadError: the kubeconfig has no current cluster, or none of the given name.
    """
    names = ("live", "snapshot", "topology")
    chosen = [name for name in names if getattr(source, name) not in (False, (), None)]
    if len(chosen) > 1:
        raise RequestError(f"--{chosen[0]} and --{chosen[1]} exclude each other")
    if not source.live:
        return None
    from kubectl_spread.sources.live.reading import Session

    return Session(source.connection)


def load(
    source: ClusterSource, session: Optional[Session] = None, question: Optional[Question] = None
) -> Optional[LoadedCluster]:
    """Return the cluster that a source names; None if it names none.

    Args:
        source: the source.
        session: the connection to the live cluster, if that is the source.
        question: which objects of the live cluster are needed.

    Raises:
        SourceError: there is no cluster in a file, or no scheduler would start with the configuration.
        ClusterError: the live cluster cannot be read.
    """
    if session is not None and question is not None:
        from kubectl_spread.operations.inputs import live_cluster

        return live_cluster.load(source, session, question)
    return load_files(source) if source.snapshot or source.topology is not None else None


def load_files(source: ClusterSource) -> LoadedCluster:
    """Return the cluster of a snapshot or topology.

    Raises:
        SourceError: as `load` does.
    """
    if source.snapshot.count("-") > 1:
        raise RequestError("standard input cannot be read twice")
    cluster, errors = _cluster(source)
    source = source._replace(kubernetes_version=source.kubernetes_version or cluster.kubernetes_version or None)
    profiles = cluster_source.load_profiles(source, held=cluster.scheduler_configuration)
    name = ", ".join("standard input" if path == "-" else path for path in source.snapshot) or source.topology or ""
    return LoadedCluster(
        cluster, profiles, source.all_nodes, source.seed, errors, name, cluster.kubernetes_version or ""
    )


def with_manifests(known: LoadedCluster, sources: list[SourceFile], namespace: str) -> LoadedCluster:
    """Return the cluster after applying the manifests' supporting objects, for example nodes and quotas."""
    from kubectl_spread.sources import supporting_objects

    found = supporting_objects.with_manifests(known.cluster, sources, namespace)
    return known._replace(cluster=found.cluster, errors=(*known.errors, *found.errors))


def place(
    workloads: list[Workload], known: LoadedCluster, *, explain_first: bool = False, evicts: bool = False
) -> list[Placement]:
    """Place workloads on a cluster; `explain_first` and `evicts` as in `simulate.replicas.place`."""
    from kubectl_spread.simulate import (
        placing,  # numpy: 80 ms
        replicas,
    )

    return replicas.place(
        [_scaled(workload, known.cluster) for workload in workloads],
        known.cluster,
        known.profiles,
        pick=None if known.seed is None else placing.seeded_pick(known.seed),
        all_nodes=known.all_nodes,
        explain_first=explain_first,
        evicts=evicts,
    )


def _scaled(workload: Workload, cluster: Cluster) -> Workload:
    """Return a workload with as many replicas as its HorizontalPodAutoscaler keeps."""
    from kubectl_spread.cluster.snapshot import key_of

    found = cluster.autoscalers.get(key_of(workload))
    if found is None or workload.replicas is None:
        return workload
    return workload._replace(replicas=found.nearest(workload.replicas))


def _cluster(source: ClusterSource) -> tuple[Cluster, tuple[SourceError, ...]]:
    if source.snapshot:
        from kubectl_spread.sources import snapshot as snapshots

        facts = snapshots.load(*source.snapshot, inside=source.inside)
        for warning in facts.warnings:
            notices.warn(source.listener, warning)
        return facts.cluster, facts.errors
    from kubectl_spread.sources import topology as topologies

    return topologies.load(source.topology or "", inside=source.inside), ()
