"""Explanations why pods are Pending, or which nodes fit them; loads numpy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, Optional, TYPE_CHECKING, Union

from kubectl_spread.cluster.ownership import OwnedPods, workload_of
from kubectl_spread.containers import grouped
from kubectl_spread.errors import ClusterError, NotFoundError, RefusedError, RequestError, SourceError, SpreadError
from kubectl_spread.explain.status import state_of
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.operations import cluster_facts, pod_reports
from kubectl_spread.operations.cluster_facts import ClusterSource, LoadedCluster
from kubectl_spread.operations.pod_reports import ReportSettings
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
    from kubectl_spread.objects.workloads.workload import Workload
    from kubectl_spread.text.source import SourceFile


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
    settings = ReportSettings(known, request.node, request.suggestions)
    is_read()
    if not has_files:
        return _of_targets(selection, settings, is_brief=request.is_brief)
    found = _of_manifests(manifests, namespace, settings)
    if found.reports or found.missing or found.errors or found.notes:
        return found
    names = ", ".join((*("<stdin>" if name == "-" else name for name in request.paths), *request.kustomize))
    return found._replace(errors=[SourceError(names, "no workload in it to explain")])


def _of_targets(selection: Selection, settings: ReportSettings, *, is_brief: bool) -> ExplainResult:
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
    for key, *same in _alike(keys, settings) if is_grouped else [[key] for key in keys]:
        try:
            first, *more = pod_reports.of_target(key, settings)
            reports += [first._replace(alike=tuple(same)), *more]
            if selection.targets and cluster.is_unread(key):
                raise missing_error(key, cluster)
        except (NotFoundError, ClusterError) as error:
            missing.append(error)
    where = f" in namespace {selection.namespace}" if selection.namespace else ""
    elsewhere = f"; {len(pods)} in other namespaces: -A" if pods else ""
    notes = () if reports or missing else (f"no pod is Pending{where}{elsewhere}",)
    return ExplainResult(reports, missing, list(settings.known.errors), settings.known, notes)


def _alike(keys: Iterable[ObjectKey], settings: ReportSettings) -> list[list[ObjectKey]]:
    """Group workloads whose pods wait for the same reason, the largest group first; all is well for the last ones."""

    def answer(key: ObjectKey) -> tuple[bool, object]:
        try:
            reports = pod_reports.of_target(key, settings._replace(suggestions=0))
        except (NotFoundError, ClusterError):
            return True, key
        why = tuple(predicate(report.explanation, report.outlook) for report in reports)
        return all(report.is_fine for report in reports), why

    groups = grouped((answer(key), key) for key in keys)
    return [same for _, same in sorted(groups.items(), key=lambda item: (item[0][0], -len(item[1]), item[1]))]


def _of_manifests(read: Iterable[Union[Input, SourceError]], namespace: str, settings: ReportSettings) -> ExplainResult:
    """Explain workloads of manifests, each at its first pod that finds no node, or at its first pod."""
    from kubectl_spread.kubectl.situation import refused_changes
    from kubectl_spread.lint.check_source import check_source  # 8 ms; pods of a cluster do not need the linter
    from kubectl_spread.lint.project import applied as accepted
    from kubectl_spread.lint.project import Project, RunContext
    from kubectl_spread.sources.manifest_objects import looks_like_facts, too_large

    errors = list(settings.known.errors)
    minor = next((profile.minor for profile in settings.known.profiles.values()), None)
    missing: list[SpreadError] = []
    subjects: list[Subject] = []
    others: list[Manifest] = []
    sources: list[SourceFile] = []
    for given in read:
        if isinstance(given, SourceError):
            errors.append(given)
            continue
        sources.append(given.source)
        result = check_source(given.source, named=True, codes=(), namespace=namespace, minor=minor)
        refused = [finding for finding in result.findings if finding.rule.severity.value == "error"]
        for finding in refused:
            error = given.source.error(finding.place.span.start, f"{finding.rule.code} {finding.message}")
            if finding.is_unreadable:
                errors.append(error)
            else:
                missing.append(RefusedError(f"error: {error}"))
        if not refused and not result.workloads and not looks_like_facts(given.source.text):
            errors.append(SourceError(given.source.name, "no workload in it to explain"))
        errors += too_large(result.workloads)
        subjects += result.subjects
        others += result.others
    applied = cluster_facts.with_manifests(settings.known, sources, namespace)
    errors += applied.errors[len(settings.known.errors) :]
    project = Project(subjects, others, RunContext(namespace=namespace))
    reports: list[PodReport] = []
    notes: list[str] = []
    release = next(iter(applied.profiles.values())).release
    workloads: list[Workload] = []
    files: dict[str, list[str]] = {}  # of the copies of a workload, by its key
    for subject in accepted(project.subjects):
        owner, spec = subject.workload, fields(subject.manifest.plain, "spec")
        refusals = refused_changes(applied.cluster, owner, spec, release)
        missing += [RefusedError(f'The {owner.kind} "{owner.name}" is invalid: {text}') for text in refusals]
        if not refusals:
            workloads.append(owner)
            files.setdefault(owner.key, []).append(subject.manifest.document.source.name)
    for number, owners in enumerate(cluster_facts.of_one_cluster(workloads)):
        placements = cluster_facts.place(owners, applied, explain_first=True)
        for at, placement in enumerate(placements):
            try:
                found = pod_reports.of_placement(placements, at, settings._replace(known=applied))
            except NotFoundError as error:
                missing.append(error)
                continue
            key = placement.workload.key
            file = files[key][number] if placement.workload.name and len({*files[key]}) > 1 else ""
            who = f"{key} ({file})" if file else key
            reports += [report._replace(file=file) for report in found]
            if placement.refused:
                share = f"{len(placement.refused)} of {count_noun(placement.replicas, 'pod')}"
                text = f"{who}: the API server refuses {share}: {placement.refused[0].message}"
                missing.append(RefusedError(f"error: {text}"))
            elif not found:
                notes.append(f"{who}: {pod_reports.reason_without_pod(placement)}")
    return ExplainResult(reports, missing, errors, settings.known, tuple(notes))
