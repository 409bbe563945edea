"""Checks of running workloads: their constraints, Pending pods and next rollouts; loads numpy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.cluster.building.shapes import LAST_APPLIED
from kubectl_spread.cluster.ownership import OwnedPods, workload_of
from kubectl_spread.cluster.sharing.prune import prune_object
from kubectl_spread.cluster.snapshot import Cluster, Controller
from kubectl_spread.errors import SpreadError
from kubectl_spread.kubectl.situation import plain_workload
from kubectl_spread.lint.selection import Config
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.workloads.kinds import KINDS
from kubectl_spread.operations import check, cluster_facts, rule_choice
from kubectl_spread.operations.check import CheckResult, CheckSettings, ReadFiles
from kubectl_spread.operations.cluster_facts import ClusterSource, LoadedCluster
from kubectl_spread.operations.rule_choice import RuleChoice
from kubectl_spread.operations.selection import missing_targets, own_namespace, Selection
from kubectl_spread.report.check.report import RunningResults
from kubectl_spread.simulate.rollouts.ask import RolloutChecker
from kubectl_spread.simulate.running.pending import waiting
from kubectl_spread.simulate.running.status import find_lost_pods, find_uncreated_pods
from kubectl_spread.sources.live.resources import Question, resource_of
from kubectl_spread.text.emit import emit
from kubectl_spread.text.source import SourceFile
from kubectl_spread.text.wording import comma_list

if TYPE_CHECKING:
    pass

Plain = dict[str, Any]

_MOST_NAMES = 6


class ClusterCheckRequest(NamedTuple):
    """The running workloads to check, and the rules.

    Attributes:
        source: the cluster facts; the live cluster if none are named.
        selection: the workloads; its namespace is replaced by `namespace`.
        namespace: None for the context's; empty for all.
        choice: rules and their settings.
        config: the configuration, if it was loaded already.
        known: the cluster, if it was read already.
    """

    source: ClusterSource = ClusterSource(live=True)
    selection: Selection = Selection()
    namespace: Optional[str] = None
    choice: RuleChoice = RuleChoice()
    config: Optional[Config] = None
    known: Optional[LoadedCluster] = None


class RunningWorkloads(NamedTuple):
    """Running workloads as texts that were read, missing ones, and notes."""

    read: ReadFiles
    running: RunningResults
    rollouts: RolloutChecker
    missing: tuple[SpreadError, ...]
    notes: tuple[str, ...]


def check_workloads(request: ClusterCheckRequest) -> CheckResult:
    """Check workloads that run: their constraints, their Pending pods and their next rollouts.

    Raises:
        RequestError: the request contradicts itself.
        ConfigError: the configuration cannot be followed.
        SourceError: the cluster facts, or the baseline, cannot be read.
        ClusterError: the live cluster cannot be read.
    """
    config = request.config if request.config is not None else rule_choice.load_config(request.choice)
    source = request.source.or_live()
    session = cluster_facts.open_session(source) if request.known is None else None
    asked = check.settings(request.choice, config, source=source, namespace=request.namespace or None, session=session)
    kinds = request.selection.all_kinds
    question = Question(request.namespace if request.namespace == "" else asked.namespace, kinds, is_overview=not kinds)
    known = request.known or cluster_facts.load(asked.source, session, question)
    own = own_namespace(session, known.cluster) if request.namespace is None else request.namespace
    selection = request.selection._replace(namespace=own)
    asked = asked._replace(namespace="default")  # running workloads name their own
    found = _running(known, asked, selection)
    # Rules may need the placement of each workload, and placing all at once is cheaper.
    prepared = check.prepare_files(asked, found.read, known, found.rollouts)
    judged = prepared.judge(found.read.results)
    findings = [item._replace(repair=None) for item in judged.findings]  # there is no file to fix
    new, baselined, notes = check.new_findings(findings, found.read, asked)
    counts = check.counts(found.read, judged, known=baselined)._replace(lists=0, templates=0)
    return CheckResult(
        new,
        [],
        list(known.errors),
        counts,
        tuple(result.source.name for result in found.read.results),
        found.read,
        asked,
        notes=(*notes, *found.notes),
        running=found.running,
        rollouts=found.rollouts.results(),
        scope=selection.place,
        missing=found.missing,
        unread=known.cluster.unread,
        known=known,
        selection=selection,
    )


def _running(known: LoadedCluster, asked: CheckSettings, wanted: Selection) -> RunningWorkloads:
    """Read the workloads that run, explain their Pending pods, and prepare to simulate their rollouts."""
    cluster = known.cluster
    controllers = [
        (key, controller)
        for key, controller in sorted(cluster.controllers.items())
        if key not in cluster.owners and wanted.includes(key, controller.labels)
    ]
    results = [asked.read(_source(controller)) for _, controller in controllers]
    pending = list(_of_wanted((pod for pod in cluster.pending() if not pod.terminating), cluster, wanted))
    waits = {key for key, _ in pending}
    seen = {*(key for key, _ in controllers), *waits}
    running = RunningResults(
        tuple(waiting(pending, cluster, known.profiles)),
        tuple(find_lost_pods(_of_wanted(cluster.bound_pods(), cluster, wanted), cluster)),
        tuple(find_uncreated_pods((key for key, _ in controllers), OwnedPods(cluster))),
    )
    read = ReadFiles(results, [], len(results), [], is_whole=False)
    incomplete = waits | {item.key for item in running.lost} | {item.key for item in running.uncreated}
    settled = {key: controller for key, controller in controllers if key not in incomplete}
    rollouts = RolloutChecker(cluster, known.profiles, settled)
    return RunningWorkloads(
        read,
        running,
        rollouts,
        missing_targets(seen, wanted, cluster, is_live=asked.source.live),
        _notes(wanted, cluster, is_live=asked.source.live),
    )


def _source(controller: Controller) -> SourceFile:
    """Return a workload as `kubectl get -o yaml` prints it, limited to the fields in snapshots."""
    owner = controller.workload
    annotations = {name: text for name, text in controller.annotations.items() if name != LAST_APPLIED}
    plain = plain_workload(controller._replace(annotations=annotations))
    # An object with a status is from a cluster, in which selectors are complete and pods may have a node.
    status = {"observedGeneration": 1}
    text = emit({**(prune_object(plain) or plain), "status": status})
    return SourceFile(f"{owner.namespace}/{owner.kind.lower()}/{owner.name}", text)


def _of_wanted(pods: Iterable[Pod], cluster: Cluster, wanted: Selection) -> Iterable[tuple[ObjectKey, Pod]]:
    """Yield the selected pods, with their workloads."""
    for pod in pods:
        key = workload_of(pod, cluster)
        controller = cluster.controllers.get(key)
        if wanted.includes(key, controller.labels if controller is not None else pod.labels):
            yield key, pod


def _notes(wanted: Selection, cluster: Cluster, *, is_live: bool) -> tuple[str, ...]:
    """Return notes on workloads that cannot be checked, because only their pods are in the cluster facts."""
    unseen: dict[str, str] = {}
    for pod in cluster.bound_pods():
        key = workload_of(pod, cluster)
        if (
            key.kind in KINDS
            and key.kind != "Pod"
            and key not in cluster.controllers
            and wanted.includes(key, pod.labels)
        ):
            unseen[f"{key.kind.lower()}/{key.name}"] = key.kind
    if not unseen:
        return ()
    names = comma_list(unseen, most=_MOST_NAMES)
    if len(unseen) == 1:
        them = f"the {next(iter(unseen.values()))}, so it was"
    else:
        them = "the workloads themselves, so they were"
    source = "cluster" if is_live else "snapshot"
    problem = f"the {source} has the pods of {names} but not {them} not checked"
    if is_live:
        return (problem,)
    kinds = ",".join(sorted({"deployments", "statefulsets", *map(_plural, unseen.values())}))
    return (f"{problem}; add the output of `kubectl get {kinds} -A -o yaml`",)


def _plural(kind: str) -> str:
    """Return the name of a kind in kubectl's commands."""
    resource = resource_of(kind)
    return f"{kind.lower()}s" if resource is None else resource.plural
