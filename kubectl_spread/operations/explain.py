"""Explanations why pods are Pending, or which nodes fit them: one for each group of equal pods; loads numpy."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Optional, TYPE_CHECKING, TypeVar, Union

from kubectl_spread.advice import problem as problems
from kubectl_spread.advice.problem import PendingPodProblem
from kubectl_spread.advice.search import suggest
from kubectl_spread.cluster.ownership import OwnedPods, workload_of
from kubectl_spread.cluster.snapshot import Cluster, ClusterEvent, Controller, key_of
from kubectl_spread.containers import grouped
from kubectl_spread.engine.refusals import charge, usage_at_start
from kubectl_spread.engine.workloads import is_changed
from kubectl_spread.errors import ClusterError, NotFoundError, RefusedError, RequestError, SourceError, SpreadError
from kubectl_spread.explain.explanation import examine, ExaminedPod, node_view, PodVerdict
from kubectl_spread.explain.forecast import Forecast, forecast
from kubectl_spread.explain.pending import Prospect, Prospects
from kubectl_spread.explain.placement import Placement
from kubectl_spread.explain.reported_message import compare_with_now, MessageStatus, other_events, reported_message
from kubectl_spread.explain.status import state_of, WorkloadState
from kubectl_spread.objects.admission import Quantities
from kubectl_spread.objects.constraints.constraint import SCHEDULE_ANYWAY
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.reading.plain import fields, mappings, Plain
from kubectl_spread.objects.workloads.workload import PER_POD_LABELS, Workload
from kubectl_spread.operations import cluster_facts
from kubectl_spread.operations.cluster_facts import ClusterSource, LoadedCluster, place
from kubectl_spread.operations.selection import missing_error, ObjectName, own_namespace, Selection
from kubectl_spread.report.explain.pod_report import PodReport
from kubectl_spread.report.explain.verdict import predicate
from kubectl_spread.report.wording import MOST_ALIKE
from kubectl_spread.sources import kustomize
from kubectl_spread.sources.files import Input, inputs
from kubectl_spread.sources.live.resources import Question
from kubectl_spread.text.wording import count_noun

if TYPE_CHECKING:
    from kubectl_spread.lint.workload import Subject
    from kubectl_spread.objects.workloads.manifest import Manifest
    from kubectl_spread.provisioners.prospect import Prospect as PodProspect  # only loaded if there are NodePools
    from kubectl_spread.text.source import SourceFile

Item = TypeVar("Item")
_MOST_GROUPS = 8  # of Pending pods of one workload, each with its own report


class _ReportSettings(NamedTuple):
    """The settings of every report.

    Attributes:
        known: the cluster.
        node: the only node to report on; empty for all.
        suggestions: the largest number of suggestions; 0 disables the search.
        added: what Karpenter does about Pending pods of the cluster, by their keys.
    """

    known: LoadedCluster
    node: str = ""
    suggestions: int = 0
    added: dict[str, PodProspect] = {}  # noqa: RUF012 (never written to)

    @property
    def suggests(self) -> bool:
        """Return whether to search suggestions."""
        return bool(self.suggestions) and not self.node


def _of_target(key: ObjectKey, asked: _ReportSettings) -> list[PodReport]:
    """Return reports on a pod, or on a workload's pods, of the cluster.

    Raises:
        NotFoundError: it does not exist.
        ClusterError: it may not be read.
    """
    if key.kind != "Pod":
        return _workload(key, asked)
    known, cluster = asked.known, asked.known.cluster
    pods = [pod for pod in cluster.pods if (pod.namespace, pod.name) == key[1:]]
    if not pods:
        raise missing_error(key, cluster)
    prospects = Prospects(pods[:1], cluster, known.profiles)
    return [_of_pod(prospects.of(pods[0]), asked)]


def of_placement(placements: list[Placement], at: int, asked: _ReportSettings) -> list[PodReport]:
    """Return reports on the pods of one placement of several; empty if it has no pod to explain.

    Raises:
        NotFoundError: there is no node of the name in the settings.
    """
    placement, known = placements[at], asked.known
    found = list(_placement(placement, asked))
    if found:
        forecast, raised = _forecast(placement.workload, asked), _raised_quotas(placement, asked)
        found[0] = found[0]._replace(forecast=forecast, raised_quotas=raised)
    if asked.suggests and any(map(_needs_advice, found)):
        problem = problems.of_placements(placements, at, known.cluster, known.profiles)
        found[0] = _suggesting(found[0], problem, asked)
    return found


def _suggesting(report: PodReport, problem: Optional[PendingPodProblem], asked: _ReportSettings) -> PodReport:
    """Return a report with the changes that solve the problem of its pod, if it has one."""
    return report if problem is None else report._replace(suggestions=suggest(problem, most=asked.suggestions))


def _of_change(placement: Placement, spec: Plain, asked: _ReportSettings) -> list[PodReport]:
    """Return the report on a pod that stays Pending once a manifest changes the template of running pods, if one does.

    Raises:
        RefusedError: the rollout gets stuck for another reason.
    """
    owner, known = placement.workload, asked.known
    if not is_changed(owner, known.cluster):
        return []
    from kubectl_spread.operations.rollouts import ManifestRollouts, ManifestWorkload
    from kubectl_spread.report.check import rollouts

    workload = ManifestWorkload(Controller(owner, spec=spec), placement)
    result = ManifestRollouts([workload], known.cluster, known.profiles).rollout_of(workload.key)
    if result is None or not result.is_stuck:
        return []
    if result.explanation is None:
        raise RefusedError(f"error: {rollouts.sentence(result)}")
    explanation = result.explanation
    if placement.first_replica is not None and not owner.has_named_pods:
        pod = placement.first_replica._replace(cls=explanation.pod.cls, new_of=owner.key)
        explanation = explanation._replace(pod=pod)
    problem = problems.of_change(explanation, owner, known.cluster, known.profiles) if asked.suggests else None
    return [_suggesting(PodReport(explanation, placement=placement), problem, asked)]


def _raised_quotas(placement: Placement, asked: _ReportSettings) -> dict[str, Quantities]:
    """Return the limits of quotas with which all pods of a placement find a node; empty if none do, or none refuse."""
    owner, known = placement.workload, asked.known
    if not (placement.refused and asked.suggests):
        return {}
    new = placement.replicas - sum(pod.ran_already for pod in placement.placed)
    raised = usage_at_start(known.cluster, owner.namespace).needed([(charge(owner.pod_spec), new)])
    quotas = tuple(
        quota._replace(hard={**quota.hard, **raised[quota.name]})
        if quota.namespace == owner.namespace and quota.name in raised
        else quota
        for quota in known.cluster.quotas
    )
    (after,) = place([owner], known._replace(cluster=known.cluster._replace(quotas=quotas)))
    return {} if after.is_stuck else raised


def _reason_without_pod(placement: Placement) -> str:
    """Return why a workload has no pod to explain."""
    if placement.gated:
        return f"its pods wait for their scheduling gates: {placement.gated[0].message}"
    if placement.not_predictable:
        return f"not predictable: its pods need {', '.join(placement.not_predictable)}"
    if placement.placed:
        return (
            f"its {count_noun(len(placement.placed), 'pod')} already {'runs' if len(placement.placed) == 1 else 'run'}"
        )
    if placement.not_created and placement.workload.is_paused:
        return "it is paused from the start, so it creates no pods"
    if placement.workload.kind == "DaemonSet":
        return "it creates no pods: its node selector, its node affinity or taints rule out every node"
    return "its number of replicas is 0"


def _workload(key: ObjectKey, asked: _ReportSettings) -> list[PodReport]:
    """Return reports on the Pending pods of a workload, one of each class; without any, on its next pod."""
    known, cluster = asked.known, asked.known.cluster
    state = state_of(key, OwnedPods(cluster))
    if state is None:
        raise missing_error(key, cluster)
    prospects = Prospects(state.pending, cluster, known.profiles)
    groups = [group for alike in _equal_pods(state.pending) for group in prospects.group_by_fate(alike)]
    groups.sort(key=lambda group: prospects.fate(group[0]).value)
    state = state._replace(finding=prospects.finding(state.pending))
    found = [_of_pod(prospects.of(first), asked, others=rest, state=state) for first, *rest in groups[:_MOST_GROUPS]]
    if groups:
        found[-1] = found[-1]._replace(not_reported=_not_reported(groups))
    if state.lost:
        first, *rest = state.lost
        others = [pod for pod in rest if pod.node_name == first.node_name]
        found.append(_of_pod(prospects.of(first), asked, others=others, state=state))
    found = found or [_next_pod(state, asked)]
    controller = cluster.controllers.get(key)
    if controller is not None:
        found[0] = found[0]._replace(forecast=_forecast(controller.workload, asked))
    return found


def _next_pod(state: WorkloadState, asked: _ReportSettings) -> PodReport:
    """Return the pod that the workload's controller would create next: a missing pod, or one more replica."""
    cluster, raised = asked.known.cluster, dict[str, Quantities]()
    controller = cluster.controllers.get(state.key)
    models = state.running or state.terminating or tuple(OwnedPods(cluster).of(state.key))
    if controller is not None and (state.wanted is not None or not state.running):
        owner = controller.workload
        replicas = len(state.running) + max(1, state.missing)
        (placement,) = place([owner._replace(replicas=replicas, is_paused=False)], asked.known, explain_first=True)
        raised = _raised_quotas(placement, asked)
        waits = state.missing and state.waiting
        for report in of_placement([placement], 0, asked) if waits else _placement(placement, asked):
            explanation = report.explanation
            if state.missing and explanation.verdict in (PodVerdict.PENDING, PodVerdict.SCHEDULABLE):
                explanation = explanation._replace(verdict=PodVerdict.NOT_CREATED)
            return report._replace(explanation=explanation, workload=state, raised_quotas=raised)
        if placement.refused and not state.failures:
            refused = ClusterEvent(state.key, "new pods are forbidden", placement.refused[0].message)
            state = state._replace(failures=(refused,))
        models = models or tuple(pod for pod in [placement.first_replica] if pod is not None)
    twin = Pod(f"{state.key.name}-next", f"{state.key.namespace}/{state.key.name}-next", models[0].cls)
    twin = twin._replace(new_of=f"{state.key.kind} {state.key.namespace}/{state.key.name}")
    report = _report(examine(twin, cluster, asked.known.profiles), cluster, asked, state=state)
    report = report._replace(raised_quotas=raised)
    if state.running or not state.failures:
        return report
    return report._replace(explanation=report.explanation._replace(verdict=PodVerdict.NOT_CREATED))


def _placement(placement: Placement, asked: _ReportSettings) -> Iterator[PodReport]:
    """Yield reports on the Pending pods, one of each class, or on the first pod."""
    asked = asked._replace(added=placement.added_nodes)
    moment, profiles = placement.moment or asked.known.cluster, asked.known.profiles
    explanations = {item.pod.name: item.explanation for item in placement.pending}
    grouped = _equal_pods(item.pod for item in placement.pending)
    reports = []
    for first, *rest in grouped[:_MOST_GROUPS]:
        report = _report(examine(first, moment, profiles), moment, asked, others=rest)
        explained = explanations[first.name]
        if explained.diagnosis.feasible:  # a plugin failed while it scored them
            report = report._replace(explanation=explained._replace(pod=first, others=report.explanation.others))
        reports.append(report)
    if len(grouped) > _MOST_GROUPS:
        reports[-1] = reports[-1]._replace(not_reported=_not_reported(grouped))
    if not grouped and placement.first is not None:
        pod = placement.first.pod
        reports = [
            PodReport(placement.first) if pod.node_name else _report(examine(pod, moment, profiles), moment, asked)
        ]
    for report in reports:
        owner, pod = placement.workload, report.explanation.pod
        explanation = report.explanation._replace(
            ignored=placement.ignored,
            pod=pod._replace(new_of="" if owner.has_named_pods or pod.node_name else owner.key),
        )
        yield report._replace(explanation=explanation, placement=placement)


def _forecast(owner: Workload, asked: _ReportSettings) -> Optional[Forecast]:
    """Return the final placement of a workload with soft constraints; None without any, or for a single node."""
    written = mappings(owner.pod_spec.get("topologySpreadConstraints"))
    if asked.node or all(item.get("whenUnsatisfiable") != SCHEDULE_ANYWAY for item in written):
        return None
    known = asked.known
    return forecast(owner, known.cluster, known.profiles)


def _equal_pods(pods: Iterable[Pod]) -> list[list[Pod]]:
    """Group equal pods: pods of one class that differ only in labels that no selector uses."""

    def model(cls: PodClass) -> PodClass:
        named = cls.selecting_keys
        return cls._replace(
            labels=tuple(item for item in cls.labels if item[0] not in PER_POD_LABELS or item[0] in named)
        )

    return list(grouped((model(pod.cls), pod) for pod in pods).values())


def _not_reported(groups: list[list[Pod]]) -> tuple[str, ...]:
    return tuple(pod.name for group in groups[_MOST_GROUPS:] for pod in group)


def _of_pod(
    prospect: Prospect, asked: _ReportSettings, *, others: Sequence[Pod] = (), state: Optional[WorkloadState] = None
) -> PodReport:
    """Return the report on one pod, with the changes that would let it be placed.

    If the scheduler refuses a fitting pod for no known reason, its own refusal is reported.
    """
    examined, known = prospect.examined, asked.known
    report = _report(examined, known.cluster, asked, others=others, state=state)
    explanation, comparison = report.explanation, report.comparison
    fits = explanation.verdict in (PodVerdict.SCHEDULABLE, PodVerdict.CONTENDED) and not explanation.assumed
    if fits and comparison is not None and comparison.status is MessageStatus.DIFFERENT:
        from kubectl_spread.explain.messages.compare import disagreement  # regular expressions: 20 ms

        found = disagreement(report.reported.message, (node.recorded.reasons for node in explanation.nodes))
        if found is not None:
            explanation = explanation._replace(verdict=PodVerdict.REFUSED, disagreement=found)
            report = report._replace(explanation=explanation)
    if not (asked.suggests and _needs_advice(report)):
        return report
    is_contended = explanation.verdict is PodVerdict.CONTENDED
    problem = problems.of_pod(
        (is_contended and explanation.last_turn) or explanation,
        prospect.cluster,
        known.profiles,
        columns=None if examined.scheduler is None else examined.scheduler.columns,
        placed_first=prospect.placed_first if is_contended else frozenset(),
    )
    return _suggesting(report, problem, asked)


def _needs_advice(report: PodReport) -> bool:
    """Return whether it does not help to wait until Karpenter has added nodes."""
    return report.outlook is None or report.outlook.running.least < report.outlook.pods


def _report(
    examined: ExaminedPod,
    cluster: Cluster,
    asked: _ReportSettings,
    *,
    others: Sequence[Pod] = (),
    state: Optional[WorkloadState] = None,
) -> PodReport:
    """Return the report on a pod, which stands for others; `state`: of its workload.

    Raises:
        NotFoundError: the requested node does not exist.
    """
    explanation = examined.explanation._replace(others=tuple(pod.name for pod in others))
    outlook, pod, profiles = None, explanation.pod, asked.known.profiles
    waiting = [asked.added[item.key] for item in (pod, *others) if item.key in asked.added]
    if waiting and explanation.verdict is PodVerdict.PENDING:
        from kubectl_spread.provisioners import prospect  # loaded already

        outlook = prospect.outlook(waiting)
    reported = reported_message(pod, cluster)
    profile = profiles.get(pod.cls.scheduler_name) or next(iter(profiles.values()))
    view = None
    if asked.node:
        if all(node.name != asked.node for node in asked.known.cluster.nodes):
            raise NotFoundError(f'nodes "{asked.node}" not found in the cluster facts')
        if pod.node_name and explanation.bound_pod is not None:  # as if it were scheduled now
            rest = tuple(other for other in cluster.pods if other is not pod)
            examined = examine(pod._replace(node_name="", nominated_node=""), cluster._replace(pods=rest), profiles)
        view = node_view(asked.node, examined)
    return PodReport(
        explanation=explanation,
        workload=state,
        reported=reported,
        comparison=compare_with_now(explanation, reported, cluster, minor=profile.minor),
        other_events=other_events(pod, cluster),
        node=view,
        outlook=outlook,
    )


class ExplainRequest(NamedTuple):
    """The pods to explain, with the cluster facts.

    Attributes:
        targets: pods and workloads of the cluster.
        paths: manifests; `-` is standard input. Either these and `kustomize` are given, or targets.
        kustomize: directories that kustomize renders.
        source: the cluster facts; the live cluster if none are named.
        namespace: of targets, and of objects that name none; None for the context's, empty for all. Without targets and
            manifests, its Pending pods are explained.
        node: report everything about this node instead of all nodes.
        suggestions: the largest number of changes to suggest for a Pending pod; 0 disables the search.
        allow_remote: kustomize may download.
        is_brief: of many workloads that wait for the same reason, only the first is explained.
    """

    targets: tuple[ObjectName, ...] = ()
    paths: tuple[str, ...] = ()
    kustomize: tuple[str, ...] = ()
    source: ClusterSource = ClusterSource()
    namespace: Optional[str] = None
    node: str = ""
    suggestions: int = 3
    allow_remote: bool = False
    is_brief: bool = False


class ExplainResult(NamedTuple):
    """The result of explaining pods.

    Attributes:
        reports: one for each group of equal pods.
        missing: requested objects that do not exist, or may not be read.
        errors: inputs that could not be read.
        notes: why a workload has no pod to explain.
        known: the cluster.
    """

    reports: list[PodReport]
    missing: list[SpreadError]
    errors: list[SourceError]
    known: LoadedCluster
    notes: tuple[str, ...] = ()

    @property
    def is_fine(self) -> bool:
        """Return whether every pod has its node or would find one."""
        return not self.missing and all(report.is_fine for report in self.reports)


def explain_pods(request: ExplainRequest, *, is_read: Callable[[], None] = lambda: None) -> ExplainResult:
    """Explain pods of a cluster, or pods that manifests would create; `is_read` is called once all is read.

    Raises:
        RequestError: the request names nothing to explain, or contradicts itself.
        SourceError: the cluster facts cannot be read.
        ClusterError: the live cluster cannot be read.
    """
    has_files = bool(request.paths or request.kustomize)
    if request.targets and has_files:
        raise RequestError("name a pod or workload, or a manifest with -f, not both")
    source = request.source.or_live()
    session = cluster_facts.open_session(source)
    manifests = [
        *inputs(request.paths, recursive=False),
        *kustomize.render_directories(request.kustomize, allow_remote=request.allow_remote),
    ]
    texts = tuple(item.source.text for item in manifests if not isinstance(item, SourceError))
    selection = Selection(request.targets)
    kinds = selection.all_kinds
    own = session.target.namespace if session is not None else ""
    question = Question(own if request.namespace is None else request.namespace, kinds, texts, has_new_nodes=True)
    question = question._replace(is_overview=not (has_files or kinds))
    known = cluster_facts.load(source, session, question)
    namespace = own_namespace(request.namespace, session, known.cluster)
    selection = selection._replace(namespace=namespace).named(known.cluster)
    settings = _ReportSettings(known, request.node, request.suggestions)
    is_read()
    if not has_files:
        return _of_targets(selection, settings, is_brief=request.is_brief)
    found = _of_manifests(manifests, namespace, settings, is_brief=request.is_brief)
    if found.reports or found.missing or found.errors or found.notes:
        return found
    names = ", ".join((*("<stdin>" if name == "-" else name for name in request.paths), *request.kustomize))
    return found._replace(errors=[SourceError(names, "no workload in it to explain")])


def _of_targets(selection: Selection, settings: _ReportSettings, *, is_brief: bool) -> ExplainResult:
    """Explain pods and workloads of the cluster facts; without any, the workloads with Pending pods."""
    cluster, missing = settings.known.cluster, list[SpreadError]()
    pending, keys = cluster.pending(), list(selection.keys)
    if cluster.provisioning and pending:
        from kubectl_spread.provisioners import prospect  # 30 ms

        settings = settings._replace(added=prospect.added_nodes(cluster, pending, settings.known.profiles))
    pods = [pod for pod in pending if not pod.terminating]
    if not selection.targets:
        waiting = {workload_of(pod, cluster): pod.name for pod in pods if selection.namespace in ("", pod.namespace)}
        # Pods that the API server refuses to create are no Pending pods, but their workloads lack them just as well.
        owned = OwnedPods(cluster)
        for key in cluster.controllers.keys() - cluster.owners.keys() - waiting.keys():
            state = state_of(key, owned) if selection.namespace in ("", key.namespace) else None
            if state is not None and state.failures:
                waiting[key] = key.name
        keys = [key._replace(name=name) if key.kind == "Pod" else key for key, name in sorted(waiting.items())]
    is_grouped = is_brief and not selection.targets and len(keys) > MOST_ALIKE
    reports: list[PodReport] = []
    groups = _alike((_answer_to(key, settings), key) for key in keys) if is_grouped else [[key] for key in keys]
    for key, *same in groups:
        try:
            first, *more = _of_target(key, settings)
            reports += [first._replace(alike=tuple(same)), *more]
            if selection.targets and cluster.is_unread(key):
                raise missing_error(key, cluster)
        except (NotFoundError, ClusterError) as error:
            missing.append(error)
    where = f" in namespace {selection.namespace}" if selection.namespace else ""
    elsewhere = f"; {len(pods)} in other namespaces: -A" if pods else ""
    notes = [] if reports or missing else [f"no pod is Pending{where}{elsewhere}"]
    notes += cluster_facts.unknown_namespaces([selection.namespace], cluster)
    return ExplainResult(reports, missing, list(settings.known.errors), settings.known, tuple(notes))


def _alike(answers: Iterable[tuple[tuple[bool, object], Item]]) -> list[list[Item]]:
    """Group items by their answers, the largest group first; the fine ones come last."""
    groups = grouped(answers)
    return [same for (is_fine, _), same in sorted(groups.items(), key=lambda item: (item[0][0], -len(item[1])))]


def _answer(reports: Iterable[PodReport]) -> tuple[bool, object]:
    """Return whether all reports are fine, and the answers in words without the names of the pods."""
    why = tuple(predicate(report.explanation, report.outlook) for report in reports)
    return all(report.is_fine for report in reports), why


def _answer_to(key: ObjectKey, settings: _ReportSettings) -> tuple[bool, object]:
    try:
        return _answer(_of_target(key, settings._replace(suggestions=0)))
    except (NotFoundError, ClusterError):
        return True, key


def _in_short(answers: Sequence[list[PodReport]]) -> Iterator[PodReport]:
    """Yield the reports on workloads of manifests, of many with one answer the first; the fine ones come last."""
    every = []
    for at, reports in enumerate(answers):
        is_fine, why = _answer(reports)
        is_single = len(answers) <= MOST_ALIKE or reports[0].file
        every.append(((is_fine, at if is_single else why), reports))
    for (first, *more), *same in _alike(every):
        placements = (other.placement for other, *_ in same)
        yield first._replace(alike=tuple(key_of(item.workload) for item in placements if item is not None))
        yield from more


def _of_manifests(
    read: Iterable[Union[Input, SourceError]], namespace: str, settings: _ReportSettings, *, is_brief: bool
) -> ExplainResult:
    """Explain workloads of manifests, each at its first pod that finds no node, or at its first pod."""
    from kubectl_spread.kubectl.situation import refused_changes
    from kubectl_spread.lint.check_source import check_source  # 8 ms; pods of a cluster do not need the linter
    from kubectl_spread.lint.project import applied as accepted
    from kubectl_spread.lint.project import Project, RunContext
    from kubectl_spread.sources.manifest_objects import looks_like_facts, too_large

    errors = list(settings.known.errors)
    release = next(iter(settings.known.profiles.values())).release
    missing: list[SpreadError] = []
    subjects: list[Subject] = []
    others: list[Manifest] = []
    sources: list[SourceFile] = []
    for given in read:
        if isinstance(given, SourceError):
            errors.append(given)
            continue
        sources.append(given.source)
        result = check_source(given.source, named=given.named, codes=(), namespace=namespace, minor=release.minor)
        refused = [*result.errors()]
        for finding, error in refused:
            if finding.is_unreadable:
                errors.append(error)
            else:
                missing.append(RefusedError(f"error: {error}"))
        if given.named and not (refused or result.workloads or looks_like_facts(given.source.text)):
            errors.append(SourceError(given.source.name, "no workload in it to explain"))
        errors += too_large(result.workloads)
        subjects += result.subjects
        others += result.others
    applied = cluster_facts.with_manifests(settings.known, sources, namespace)
    errors += applied.errors[len(settings.known.errors) :]
    answers: list[list[PodReport]] = []
    notes: list[str] = []
    workloads: list[Workload] = []
    copies: dict[str, list[tuple[str, Plain]]] = {}  # the file and the spec of each copy of a workload, by its key
    run = Project(subjects, others, RunContext(namespace=namespace)).subjects
    placed = {id(subject) for subject in accepted(run)}  # without the ReplicaSets of a Deployment here
    for subject in run:
        owner, spec = subject.workload, fields(subject.manifest.plain, "spec")
        refusals = refused_changes(applied.cluster, owner, spec, release)
        missing += [RefusedError(f'The {owner.kind} "{owner.name}" is invalid: {text}') for text in refusals]
        if id(subject) in placed and not refusals:
            workloads.append(owner)
            copies.setdefault(owner.key, []).append((subject.manifest.document.source.name, spec))
    asked = settings._replace(known=applied)
    for number, owners in enumerate(cluster_facts.of_one_cluster(workloads)):
        placements = cluster_facts.place(owners, applied, explain_first=True)
        for at, placement in enumerate(placements):
            key = placement.workload.key
            file, spec = copies[key][number if placement.workload.name else 0]
            try:
                found = of_placement(placements, at, asked) or _of_change(placement, spec, asked)
            except (NotFoundError, RefusedError) as error:
                missing.append(error)
                continue
            file = file if placement.workload.name and len({name for name, _ in copies[key]}) > 1 else ""
            who = f"{key} ({file})" if file else key
            answers += [[report._replace(file=file) for report in found]] if found else []
            if placement.refused:
                pods, why = count_noun(placement.replicas, "pod"), placement.refused[0].message
                missing.append(
                    RefusedError(f"error: {who}: the API server refuses {len(placement.refused)} of {pods}: {why}")
                )
            elif not found:
                notes.append(f"{who}: {_reason_without_pod(placement)}")
    reports = [*_in_short(answers)] if is_brief else [*itertools.chain(*answers)]
    lacking = cluster_facts.unknown_namespaces((owner.namespace for owner in workloads), applied.cluster)
    return ExplainResult(reports, missing, errors, settings.known, (*notes, *lacking))
