"""`kubectl spread guarantee`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional, TYPE_CHECKING

import click

from kubectl_spread.cli import complete
from kubectl_spread.cli.console import finish, progress
from kubectl_spread.cli.options import (
    answer_options,
    as_usage_errors,
    cluster_facts,
    filename_option,
    kustomize_option,
    namespace_option,
    option,
    Output,
    page_source,
    print_json,
    redirect_output,
    search_timeout,
    SectionedCommand,
    selector_option,
)
from kubectl_spread.cli.targets import parse_targets, selection, without_files
from kubectl_spread.guarantee.policy import texts
from kubectl_spread.guarantee.policy.policy import GroupSpec, PLACED, Policy, PolicyRule, Regime, REGIMES
from kubectl_spread.guarantee.policy.texts import PolicyTextError
from kubectl_spread.objects.keys import Range
from kubectl_spread.report.table import Style

if TYPE_CHECKING:  # these load numpy
    from kubectl_spread.operations.guarantee import GuaranteeResult

_MAX_STATES = 100_000


def _read(read: Callable[[str], Any]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Return a callback that reads the texts of an option."""

    def callback(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        try:
            if isinstance(value, tuple):
                return tuple(read(text) for text in value)
            return None if value is None else read(value)
        except PolicyTextError as error:
            raise click.BadParameter(str(error), ctx, param) from None

    return callback


@click.command(cls=SectionedCommand)
@click.argument("targets", nargs=-1, shell_complete=complete.targets, metavar="[TYPE [NAME...] | TYPE/NAME...]")
@filename_option("Judge the workloads of a manifest or directory.")
@option("-R, --recursive: Also read the directories below the named ones.", name="is_recursive")
@kustomize_option
@cluster_facts
@option("--policy FILE: Read the policy from a file (`kind: Policy`).")
@option(
    "--max-share KEY=SHARE...: No domain of KEY holds more than a share of the pods: zone=1/2, 'zone<1/2', "
    "hostname=30%. Repeatable.",
    callback=_read(texts.max_share),
    shell_complete=complete.topology_keys,
)
@option(
    "--max-count KEY=N...: No domain of KEY holds more than N pods. Repeatable.",
    callback=_read(texts.max_count),
    shell_complete=complete.topology_keys,
)
@option(
    "--min-domains KEY=K...: The pods use at least K domains of KEY. Repeatable.",
    callback=_read(texts.min_domains),
    shell_complete=complete.topology_keys,
)
@option(
    "--separate KEY...: The pods of one workload are in different domains of KEY. Repeatable.",
    callback=_read(texts.separate),
    shell_complete=complete.topology_keys,
)
@option(
    "--survive KEY[=N]...: Enough pods are left after losing N domains of KEY, and the lost ones find other nodes. "
    "Repeatable.",
    shell_complete=complete.topology_keys,
)
@option("--keep M|50%|quorum: Fewest pods that --survive must leave.")
@option("--allow-pending: Allow pods to stay Pending.")
@selector_option("Judge all workloads whose pods have these labels as one group.")
@option(
    "--replicas MIN..MAX: Range in which workloads are scaled.  [default: of the HorizontalPodAutoscaler]",
    callback=_read(texts.replicas),
)
@option(
    "--shards MIN..MAX: Range in which a group grows and shrinks by whole workloads, such as the shards of a database.",
    callback=_read(texts.shards),
)
@option(
    "--regime: Decide only this regime. Repeatable.  [default: all]",
    multiple=True,
    type=click.Choice([item.value for item in REGIMES]),
)
@option("--recommend: Search for constraints that keep the policy on these nodes.", name="wants_recommendation")
@namespace_option("Namespace of the workloads.  [default: the context's; of a snapshot its only one]")
@option("--max-states N: Visit at most N states for each regime.", type=click.IntRange(1), default=_MAX_STATES)
@search_timeout("Stop visiting states of a group after this time; 0 means no limit.")
@answer_options("text", "json", "junit", "html")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    targets: tuple[str, ...],
    policy: Optional[str],
    max_share: tuple[PolicyRule, ...],
    max_count: tuple[PolicyRule, ...],
    min_domains: tuple[PolicyRule, ...],
    separate: tuple[PolicyRule, ...],
    survive: tuple[str, ...],
    keep: Optional[str],
    allow_pending: bool,
    label_selector: Optional[str],
    replicas: Optional[Range],
    shards: Optional[Range],
    regime: tuple[str, ...],
    output: Output,
    style: Style,
    **asked: Any,
) -> int:
    """Prove that spread constraints keep a policy, or show events that break it.

    A policy says how pods must be spread, for example less than half of them in one zone. guarantee considers every
    order of events, and every node that passes the scheduler's filters; scores are ignored. It decides each rule for
    five regimes. Each regime adds events to the previous one: the pods are created; any pods are deleted and created
    again; a new template is rolled out; the number of replicas changes; a node is drained, or a domain is lost.
    Workloads whose constraints count each other's pods are one group.

    \b
    Exit codes:
      0  every rule is proved
      1  a rule is refuted or could not be decided, or a workload does not exist
      2  wrong usage, or an invalid policy
      3  an input could not be read, or the cluster could not be reached
      130  the search was interrupted; what is known so far was printed

    \b
    Examples:
      # Can a zone ever hold half of the pods, or a node a third?
      kubectl spread guarantee -f redis.yaml --topology zones=3,nodes=2 --max-share 'zone<1/2' --max-share 'node<1/3'

    \b
      # Is a quorum of etcd left if a zone is lost?
      kubectl spread guarantee sts/etcd -n kube-system --survive zone --keep quorum

    \b
      # Which constraints would keep the policy?
      kubectl spread guarantee -f redis.yaml --topology zones=3,nodes=2 --policy ha.yaml --recommend

    \b
      # In CI
      kubectl spread guarantee --policy ha.yaml -R -f deploy/ --topology prod.yaml -o junit > guarantee.xml
    """  # noqa: D301
    rules = [*max_share, *max_count, *min_domains, *separate, *_losses(survive, keep, ctx)]
    if replicas is not None and shards is not None:
        raise click.UsageError("--replicas and --shards exclude each other", ctx)
    made = _policy(policy, rules, label_selector, allow_pending=allow_pending, ctx=ctx)
    if replicas is not None or shards is not None:
        groups = tuple(item._replace(replicas=replicas, shards=shards) for item in made.groups)
        made = made._replace(groups=groups)
    if regime:
        made = made._replace(regimes=tuple(map(Regime, regime)))
    targets, asked["paths"] = without_files(targets, asked["paths"])
    if targets and (asked["paths"] or asked["kustomize"]):
        raise click.UsageError("name workloads or files, not both", ctx)
    with as_usage_errors(ctx), progress("reading the cluster facts") as under_way:
        from kubectl_spread.cli import search
        from kubectl_spread.operations.guarantee import guarantee_policy, GuaranteeRequest  # numpy: 80 ms

        chosen = parse_targets(targets, ctx, verb="judge")
        with search.interruptible(under_way) as watch:
            found = guarantee_policy(GuaranteeRequest(made, selection=chosen, **asked), watch)
    with redirect_output(output):
        _print(found, output, style)
    is_fine = found.verdict.value in ("proved", "notApplicable")
    return finish(found.errors, is_fine=is_fine, is_interrupted=found.is_interrupted)


def _losses(survive: tuple[str, ...], keep: Optional[str], ctx: click.Context) -> list[PolicyRule]:
    if keep is not None and not survive:
        raise click.UsageError("--keep is for --survive: write --survive zone --keep quorum", ctx)
    try:
        return [texts.survive(text, keep) for text in survive]
    except PolicyTextError as error:
        raise click.UsageError(str(error), ctx) from None


def _policy(
    path: Optional[str],
    rules: list[PolicyRule],
    label_selector: Optional[str],
    *,
    allow_pending: bool,
    ctx: click.Context,
) -> Policy:
    """Return the policy of a file or of flags."""
    if path is None and not rules:
        raise click.UsageError("name a policy: --policy FILE, or rules such as --max-share 'zone<1/2'", ctx)
    if path is not None and (rules or label_selector is not None or allow_pending):
        raise click.UsageError("--policy and rules exclude each other: write all rules into the file", ctx)
    if path is not None:
        from kubectl_spread.sources import policy_file

        return policy_file.load(path)
    own = (*rules, *(() if allow_pending else (PLACED,)))
    selector = selection((), label_selector, ctx, verb="judge").selector
    return Policy((GroupSpec(own, selector=selector),), name="of the command line")


def _print(found: GuaranteeResult, output: Output, style: Style) -> None:
    groups = [(item.result, item.recommendation) for item in found.groups]
    if output.format == "json":
        from kubectl_spread.report.guarantee import document

        made = document(
            found.policy,
            groups,
            verdict=found.verdict,
            errors=found.errors,
            skipped=found.skipped,
            unread=found.known.cluster.unread,
            is_interrupted=found.is_interrupted,
        )
        print_json(made)
    elif output.format == "junit":
        from kubectl_spread.report.guarantee import junit

        click.echo(junit(found.policy.name, [result for result, _ in groups], found.errors))
    elif output.format == "html":
        from kubectl_spread.report.pages import guarantee as pages

        cluster, source = found.known.cluster, page_source(found.known)
        page = pages.render(found.policy.name, groups, cluster, source, errors=found.errors, skipped=found.skipped)
        click.echo(page, nl=False)
    else:
        from kubectl_spread.report import guarantee as text

        click.echo(text.render(found.policy.name, groups, style), color=output.colour)
        for key in found.skipped:
            click.echo(f"\nNot judged: {key.kind} {key.namespace}/{key.name}")
