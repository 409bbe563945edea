"""Checks of running workloads: their constraints, Pending pods and next rollouts; loads numpy."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_spread.cluster.ownership import OwnedPods, workload_of
from kubectl_spread.cluster.shapes import LAST_APPLIED, prune_object
from kubectl_spread.cluster.snapshot import Cluster, Controller
from kubectl_spread.explain.explanation import PodVerdict
from kubectl_spread.explain.pending import waiting
from kubectl_spread.explain.status import find_lost_pods, find_uncreated_pods
from kubectl_spread.kubectl.kinds import full_name
from kubectl_spread.kubectl.situation import plain_workload
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.workloads.kinds import KINDS
from kubectl_spread.operations import check, cluster_facts, rule_choice
from kubectl_spread.operations.check import CheckRequest, CheckResult, CheckRun
from kubectl_spread.operations.rollouts import RolloutChecker
from kubectl_spread.operations.selection import missing_targets, own_namespace, Selection
from kubectl_spread.report.check.report import RunningResults
from kubectl_spread.sources.live.resources import Question
from kubectl_spread.text.scalars import emit
from kubectl_spread.text.source import SourceFile
from kubectl_spread.text.wording import comma_list


def check_workloads(request: CheckRequest) -> CheckResult:
    """Check workloads that run: their constraints, their Pending pods and their next rollouts.

    Raises:
        RequestError: the request contradicts itself.
        ConfigError: the configuration cannot be followed.
        SourceError: the cluster facts, or the baseline, cannot be read.
        ClusterError: the live cluster cannot be read.
    """
    config = rule_choice.load_config(request.choice) if request.config is None else request.config
    request = request._replace(source=request.source.or_live())
    session = cluster_facts.open_session(request.source) if request.known is None else None
    known = request.known or (check.in_files(request.source, config) if session is None else None)
    asked = check.settings(request, config, session=session, known=known)
    kinds = request.selection.all_kinds
    namespace = request.namespace if request.namespace == "" else asked.namespace
    question = Question(namespace, kinds, is_overview=not kinds, has_new_nodes=True)
    known = known or cluster_facts.load(asked.source, session, question)
    cluster, is_live = known.cluster, asked.source.live
    wanted = request.selection._replace(namespace=own_namespace(request.namespace, session, cluster))
    asked = asked._replace(namespace="default")  # running workloads name their own
    controllers = wanted.controllers(cluster)
    results = [asked.read(_source(controller)) for controller in controllers.values()]
    pending = list(_of_wanted((pod for pod in cluster.pending() if not pod.terminating), cluster, wanted))
    groups = tuple(waiting(pending, cluster, known.profiles))
    stuck = [item.explanation.pod for item in groups if item.explanation.verdict is PodVerdict.PENDING]
    running = RunningResults(
        groups,
        tuple(find_lost_pods(_of_wanted(cluster.bound_pods(), cluster, wanted), cluster)),
        tuple(find_uncreated_pods(controllers, OwnedPods(cluster))),
    )
    explain = request.source.command("explain", "pod", stuck[0].name, "-n", stuck[0].namespace) if stuck else ""
    waits = {key for key, _ in pending}
    incomplete = waits.union((item.key for item in running.lost), (item.key for item in running.uncreated))
    settled = {key: controller for key, controller in controllers.items() if key not in incomplete}
    # Rules may need the placement of each workload, and placing all at once is cheaper.
    rollouts = [RolloutChecker(cluster, known.profiles, settled)]
    run = check.with_cluster(CheckRun(asked, results, [], len(results)), known, rollouts)
    report, _, notes = check.report_of(run)
    report = report._replace(
        findings=[item._replace(repair=None) for item in report.findings],  # there is no file to fix
        checked={name: count for name, count in report.checked.items() if name not in ("lists", "templates")},
        running=running,
        explain=explain,
    )
    missing = missing_targets({*controllers, *waits}, wanted, cluster, is_live=is_live)
    return CheckResult(report, run, (*notes, *_notes(wanted, cluster, is_live=is_live)), missing, wanted)


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
    for key, _ in _of_wanted(cluster.bound_pods(), cluster, wanted):
        if key.kind in KINDS and key.kind != "Pod" and key not in cluster.controllers:
            unseen[f"{key.kind.lower()}/{key.name}"] = key.kind
    if not unseen:
        return ()
    them = "the workloads themselves, so they were"
    if len(unseen) == 1:
        them = f"the {next(iter(unseen.values()))}, so it was"
    source = "cluster" if is_live else "snapshot"
    problem = f"the {source} has the pods of {comma_list(unseen)} but not {them} not checked"
    if is_live:
        return (problem,)
    plurals = {full_name(kind).partition(".")[0] for kind in unseen.values()}
    kinds = ",".join(sorted(plurals | {"deployments", "statefulsets"}))
    return (f"{problem}; add the output of `kubectl get {kinds} -A -o yaml`",)
