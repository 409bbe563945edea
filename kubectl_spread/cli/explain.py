"""`kubectl spread explain`."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from typing import NamedTuple
from typing import Optional
from typing import TYPE_CHECKING
from typing import Union

import click

from kubectl_spread.cli.exit import Exit
from kubectl_spread.cli.options import cluster_facts
from kubectl_spread.cli.options import colour_option
from kubectl_spread.cli.options import FactOptions
from kubectl_spread.cli.options import Facts
from kubectl_spread.cli.options import kustomize_option
from kubectl_spread.cli.options import kustomized
from kubectl_spread.cli.options import load_facts
from kubectl_spread.cli.options import place
from kubectl_spread.cli.options import wants_colour
from kubectl_spread.cli.options import with_manifests
from kubectl_spread.cli.stderr import complain
from kubectl_spread.cli.stderr import flush
from kubectl_spread.errors import NotFoundError
from kubectl_spread.errors import SourceError
from kubectl_spread.objects.kinds import kind_named
from kubectl_spread.objects.kinds import KINDS
from kubectl_spread.objects.workload import NAMED_BY_LABEL

if TYPE_CHECKING:  # these load numpy
    from kubectl_spread.cluster.snapshot import OwnerKey
    from kubectl_spread.explain.explanation import Explanation
    from kubectl_spread.lint.subject import Subject
    from kubectl_spread.objects.manifest import Manifest
    from kubectl_spread.objects.pod import Pod
    from kubectl_spread.objects.workload import Workload
    from kubectl_spread.simulate.placement import Placement
    from kubectl_spread.sources.files import Input
    from kubectl_spread.text.source import SourceFile


class _Read(NamedTuple):
    """What the manifests hold, and their texts."""

    workloads: list[Workload]
    sources: list[SourceFile]


class _Target(NamedTuple):
    kind: str
    name: str


@click.command()
@click.argument("targets", nargs=-1, metavar="[TYPE NAME | TYPE/NAME]...")
@click.option("-f", "--filename", multiple=True, metavar="FILE", help="Explain the pods of a manifest; - is stdin.")
@kustomize_option
@cluster_facts
@click.option("-n", "--namespace", metavar="NAME", help="Namespace of what is named.  [default: default]")
@click.option(
    "-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Output format."
)
@colour_option
@click.pass_context
def command(
    ctx: click.Context,
    targets: tuple[str, ...],
    filename: tuple[str, ...],
    kustomize: tuple[str, ...],
    facts: FactOptions,
    namespace: Optional[str],
    output: str,
    color: str,
) -> int:
    """Explain why a pod is Pending, or where it would fit.

    The verdict, the scheduler's message, the nodes by reason, each constraint's arithmetic by domain, and which
    requirements together leave no node.

    \b
    Exit codes:
      0  the pods run, or would fit
      1  a pod stays Pending or is not predictable, or there is no such pod
      2  wrong usage
      3  an input could not be read

    \b
    Examples:
      # A pod of the cluster facts
      kubectl spread explain pod web-7d9f-x2x4 -n shop --snapshot facts.yaml

    \b
      # The Pending pods of a workload
      kubectl spread explain deploy/web -n shop --snapshot facts.yaml

    \b
      # The next pod of a manifest, before it exists
      kubectl spread explain -f web.yaml --topology zones=3,nodes=2,cpu=4,memory=16Gi
    """  # noqa: D301
    if bool(targets) == bool(filename or kustomize):
        raise click.UsageError("name a pod or workload, or a manifest with -f", ctx)
    wanted = _targets(targets, ctx)
    known = load_facts(facts)
    if known is None:
        raise click.UsageError("no cluster facts: give --snapshot or --topology", ctx)
    errors = list(known.errors)
    found = [] if targets else _from_files(_inputs(filename, kustomize), known, namespace or "default", errors)
    missing: list[NotFoundError] = []
    for target in wanted:
        try:
            found += _from_cluster(target, known, namespace or "default")
        except NotFoundError as absent:
            missing.append(absent)
    if found or not missing:
        _print(found, output, colour=wants_colour(color))
    flush()
    for error in (*errors, *missing):
        complain(error)
    if errors:
        return Exit.UNREADABLE
    if missing:
        return Exit.FINDINGS
    fine = all(item.verdict.value in ("Schedulable", "Running", "Finished") for item in found)
    return Exit.CLEAN if fine else Exit.FINDINGS


def _targets(words: tuple[str, ...], ctx: click.Context) -> list[_Target]:
    """`pod a b` or `pod/a deploy/b`, in kubectl's manner."""
    slashed = ["/" in word for word in words]
    if any(slashed):
        if not all(slashed):
            raise click.UsageError(
                "there is no need to specify a resource type as a separate argument when passing arguments in "
                "resource/name form",
                ctx,
            )
        return [_target(*word.partition("/")[::2], ctx) for word in words]
    if len(words) == 1:
        raise click.UsageError(f"which one? give a name: {words[0]} NAME or {words[0]}/NAME", ctx)
    return [_target(words[0], name, ctx) for name in words[1:]]


def _target(kind_word: str, name: str, ctx: click.Context) -> _Target:
    kind = kind_named(kind_word)
    if kind is None or kind == "PodTemplate":
        known = ", ".join(entry.names[0] for key, entry in KINDS.items() if key != "PodTemplate")
        raise click.UsageError(f'there is no resource type "{kind_word}" to explain; there are {known}', ctx)
    if not name or "/" in name:
        raise click.UsageError("arguments in resource/name form must have a single resource and name", ctx)
    return _Target(kind, name)


def _from_cluster(target: _Target, known: Facts, namespace: str) -> list[Explanation]:
    from kubectl_spread.cluster.snapshot import OwnerKey
    from kubectl_spread.explain.explanation import explain

    cluster = known.cluster
    if target.kind == "Pod":
        pods = [pod for pod in cluster.pods if pod.name == target.name and pod.namespace == namespace]
        if not pods:
            raise NotFoundError(f'pods "{target.name}" not found in namespace "{namespace}" of the cluster facts')
        return [explain(pods[0], cluster, known.profiles)]
    key = OwnerKey(target.kind, namespace, target.name)
    owned = [pod for pod in cluster.pods if cluster.top_owner(pod) == key or _owned_by(pod, key)]
    label = NAMED_BY_LABEL.get(target.kind)
    if label is not None:
        owned = [pod for pod in cluster.pods if pod.namespace == namespace and (label, target.name) in pod.cls.labels]
    if not owned:
        raise NotFoundError(
            f'no pod of {target.kind.lower()} "{target.name}" in namespace "{namespace}" of the cluster facts; '
            "`explain -f FILE` explains a manifest"
        )
    pending = [pod for pod in owned if pod.is_visible and not pod.node_name]
    return _grouped([explain(pod, cluster, known.profiles) for pod in pending or owned[:1]])


def _owned_by(pod: Pod, key: OwnerKey) -> bool:
    return pod.owner is not None and (pod.owner.kind, pod.namespace, pod.owner.name) == key


def _grouped(items: list[Explanation]) -> list[Explanation]:
    """One explanation for the pods of one class; the others are named in it."""
    first: dict[object, Explanation] = {}
    for item in items:
        known = first.get(item.pod.cls)
        first[item.pod.cls] = item if known is None else known._replace(others=(*known.others, item.pod.name))
    return list(first.values())


def _inputs(paths: tuple[str, ...], directories: tuple[str, ...]) -> Iterator[Union[Input, SourceError]]:
    from kubectl_spread.sources.files import inputs

    yield from inputs(paths, recursive=False)
    yield from kustomized(directories)


def _from_files(
    read: Iterable[Union[Input, SourceError]], known: Facts, namespace: str, errors: list[SourceError]
) -> list[Explanation]:
    """What `check` would place, explained at the first pod that finds no node, or at the first pod."""
    manifests = _workloads(read, namespace, errors)
    applied = with_manifests(known, manifests.sources, namespace)
    errors += applied.errors[len(known.errors) :]
    placements = place(manifests.workloads, applied, explain_first=True)
    found: list[Explanation] = []
    for placement in placements:
        stuck = _grouped([item.explanation._replace(pod=item.pod) for item in placement.pending])
        told = stuck or ([placement.first] if placement.first is not None else [])
        found += [item._replace(ignored=placement.ignored) for item in told]
        if not stuck and placement.first is None:
            click.echo(f"{placement.workload.key}: {_why_nothing(placement)}", err=True)
    return found


def _why_nothing(placement: Placement) -> str:
    """Why a workload has no pod to explain."""
    if placement.gated:
        return f"its pods wait for their scheduling gates: {placement.gated[0].message}"
    if placement.not_predictable:
        return f"not predictable: its pods need {', '.join(placement.not_predictable)}"
    if placement.placed:
        return f"all its pods run already, {len(placement.placed)} of them"
    return "it asks for no pods"


def _workloads(read: Iterable[Union[Input, SourceError]], namespace: str, errors: list[SourceError]) -> _Read:
    from kubectl_spread.lint.project import Project
    from kubectl_spread.lint.run import check_source
    from kubectl_spread.sources.beside import looks_like_facts

    subjects: list[Subject] = []
    others: list[Manifest] = []
    sources: list[SourceFile] = []
    for given in read:
        if isinstance(given, SourceError):
            errors.append(given)
            continue
        sources.append(given.source)
        result = check_source(given.source, named=True, codes=(), namespace=namespace)
        refused = [finding for finding in result.findings if finding.rule.severity.value == "error"]
        for finding in refused:
            line, column = given.source.position(finding.place.span.start)
            message = f"{finding.rule.code} {finding.message}"
            errors.append(SourceError(given.source.name, message, line=line, column=column))
        if not refused and not result.workloads and not looks_like_facts(given.source.text):
            errors.append(SourceError(given.source.name, "no workload in it to explain"))
        subjects += result.subjects
        others += result.others
    return _Read(Project(subjects, others, namespace=namespace).workloads, sources)


def _print(found: list[Explanation], output: str, *, colour: bool) -> None:
    if output == "json":
        from kubectl_spread.report import explanation_json
        from kubectl_spread.report.json import dumps

        click.echo(dumps(explanation_json.explanations(found)))
        return
    from kubectl_spread.report import explanations

    blocks = ["\n".join(explanations.lines(item, colour=colour)) for item in found]
    if blocks:
        click.echo("\n\n".join(blocks), color=True)
