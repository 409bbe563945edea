"""`kubectl spread guarantee`."""

from __future__ import annotations

import functools
import shlex
from typing import Any, Optional, TYPE_CHECKING

import click

from kubectl_spread.cli import complete
from kubectl_spread.cli.console import finish, progress
from kubectl_spread.cli.options import (
    answer_options,
    cluster_facts,
    DOCUMENTS,
    effort_option,
    kustomize_option,
    namespace_option,
    option,
    Output,
    page_source,
    policy_option,
    print_document,
    redirect_output,
    SectionedCommand,
    targets_argument,
)
from kubectl_spread.cli.targets import namespace_of, selection, without_files
from kubectl_spread.guarantee import texts
from kubectl_spread.guarantee.policy import GroupSpec, Policy, PolicyRule, Regime, REGIMES, with_places
from kubectl_spread.objects.keys import Range
from kubectl_spread.report.wording import INTERRUPTED

if TYPE_CHECKING:  # these load numpy
    from kubectl_spread.operations.guarantee import GuaranteeResult
    from kubectl_spread.operations.simulate import SimulateRequest

_MAX_STATES = 100_000


_keyed = functools.partial(option, shell_complete=complete.topology_keys)


@click.command(cls=SectionedCommand)
@targets_argument
@option("-f, --filename FILE...: Judge the workloads of a manifest or directory.", name="paths")
@option("-R, --recursive: Also the directories below.")
@kustomize_option
@cluster_facts
@policy_option("Policy file; docs/guarantee.md shows one.")
@_keyed("--at-most KEY=SHARE...: No domain holds more: zone=1/2, node=30%.", read=texts.at_most)
@_keyed("--less-than KEY=SHARE...: Every domain holds less: node=1/3.", read=texts.less_than)
@_keyed("--max-count KEY=N...: No domain holds more than N pods.", read=texts.max_count)
@_keyed("--min-domains KEY=K...: The pods use at least K domains.", read=texts.min_domains)
@_keyed("--separate KEY...: Pods of a workload are in different domains.", read=texts.separate)
@_keyed("--survive KEY[=N]...: Lose N domains: enough pods are left, and the others find nodes.")
@option("--keep M|50%|quorum: Fewest pods left, for --survive.")
@option("--allow-pending: Allow pods to stay Pending.")
@option("-l, --selector SELECTOR: Judge workloads with these labels as one group.", name="label_selector")
@option("--replicas MIN..MAX: Range of scaling.  [default: autoscaler's]", read=Range.of_text)
@option("--shards MIN..MAX: The group grows by whole workloads.", read=texts.shards)
@option(
    f"--regime NAME...: Only {', '.join(item.value for item in REGIMES)}.",
    type=click.Choice([item.value for item in REGIMES]),
)
@option("--recommend: Search for constraints that keep the policy.", name="wants_recommendation")
@namespace_option()
@option("-A, --all-namespaces: Judge the workloads of all namespaces.")
@effort_option
@answer_options("text", "json", "yaml", "junit", "html")
def command(
    targets: tuple[str, ...],
    policy: Optional[Policy],
    survive: tuple[str, ...],
    keep: Optional[str],
    allow_pending: bool,
    label_selector: Optional[str],
    all_namespaces: bool,
    replicas: Optional[Range],
    shards: Optional[Range],
    regime: tuple[str, ...],
    effort: float,
    wants_recommendation: bool,
    output: Output,
    **asked: Any,
) -> int:
    """Prove that spread constraints keep a policy, or show events that break it.

    A policy says how pods must be spread, such as less than half of them in one zone. guarantee considers every order
    of events for five regimes, each with the events of the one before: the pods are created; they restart; a rollout;
    scaling; a drain or the loss of a domain. KEY is zone, node, region or a label of nodes.

    \b
    Examples:
      # Can a zone ever hold half of the pods, or a node a third?
      kubectl spread guarantee deploy/web -n shop --less-than zone=1/2 --less-than node=1/3
      # Is a quorum of etcd left if a zone is lost?
      kubectl spread guarantee sts/etcd -n kube-system --survive zone --keep quorum
      # Which constraints would keep the policy?
      kubectl spread guarantee -f redis.yaml --topology zones=3,nodes=2 --policy ha.yaml --recommend
      # In CI
      kubectl spread guarantee --policy ha.yaml -R -f deploy/ --topology prod.yaml -o junit > guarantee.xml

    \b
    Exit codes:
      0  every rule is proved
      1  a rule is refuted or could not be decided, or a workload does not exist
      2  wrong usage, or an invalid policy
      3  an input could not be read, or the cluster could not be reached
      130  Ctrl-C or SIGTERM ended the search; what is known so far was printed
    """  # noqa: D301
    flags = ("at_most", "less_than", "max_count", "min_domains", "separate")
    rules = [rule for flag in flags for rule in asked.pop(flag)]
    if keep is not None and not survive:
        raise click.UsageError("--keep is for --survive: write --survive zone --keep quorum")
    for text in survive:
        try:
            rules.append(texts.survive(text, keep))
        except ValueError as error:
            words = "" if keep is None else f"{shlex.join(('--survive', text, '--keep', keep))}: "
            raise click.UsageError(f"{words}{error}") from None
    if replicas is not None and shards is not None:
        raise click.UsageError("--replicas and --shards exclude each other")
    made = _policy(policy, rules, label_selector, allow_pending=allow_pending)
    if replicas is not None or shards is not None:
        groups = tuple(item._replace(replicas=replicas, shards=shards) for item in made.groups)
        made = made._replace(groups=groups)
    if regime:
        made = made._replace(regimes=tuple(map(Regime, regime)))
    targets, asked["paths"] = without_files(targets, asked["paths"])
    if targets and (asked["paths"] or asked["kustomize"]):
        raise click.UsageError("name workloads or files, not both")
    with progress("reading the cluster facts") as under_way:
        from kubectl_spread.cli import search
        from kubectl_spread.operations.guarantee import guarantee_policy, GuaranteeRequest  # numpy: 80 ms
        from kubectl_spread.operations.simulate import SimulateRequest

        chosen = selection(targets, verb="judge")
        asked["namespace"] = namespace_of(chosen, asked["namespace"], all_namespaces=all_namespaces)
        inputs = SimulateRequest(**asked)
        with search.interruptible(under_way) as watch:
            states = int(_MAX_STATES * effort)
            found = guarantee_policy(GuaranteeRequest(made, inputs, chosen, states, wants_recommendation), watch)
    with redirect_output(output):
        _print(found, output, inputs=inputs, is_cut_off=wants_recommendation and found.is_interrupted)
    is_fine = found.verdict.value in ("proved", "notApplicable")
    return finish(found.errors, is_fine=is_fine, is_interrupted=found.is_interrupted)


def _policy(
    policy: Optional[Policy],
    rules: list[PolicyRule],
    label_selector: Optional[str],
    *,
    allow_pending: bool,
) -> Policy:
    """Return the policy of a file or of flags."""
    if policy is None and not rules:
        raise click.UsageError("name a policy: --policy FILE, or rules such as --less-than zone=1/2")
    if policy is not None and (rules or label_selector is not None or allow_pending):
        raise click.UsageError("--policy and rules exclude each other: write all rules into the file")
    if policy is not None:
        return policy
    own = tuple(rules if allow_pending else with_places(rules))
    selector = selection((), label_selector, verb="judge").selector
    return Policy((GroupSpec(own, selector=selector),), name="of the command line")


def _print(found: GuaranteeResult, output: Output, *, inputs: SimulateRequest, is_cut_off: bool) -> None:
    groups = found.groups
    if output.format in DOCUMENTS:
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
        print_document(made, output.format)
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

        if found.is_interrupted:
            click.echo(f"{INTERRUPTED}\n")
        why = ""
        for result, _ in groups:
            key, verbs = result.workloads[0], text.verbs_about_pending(result)
            files = [part for name in inputs.paths for part in ("-f", name)]
            what = files or [f"{key.kind.lower()}/{key.name}", "-n", key.namespace]
            if not why and verbs and (files or verbs == ("explain",)):
                why = inputs.source.command(*verbs, *what)
        answer = text.render(
            found.policy.name, groups, output.style, why=why, skipped=found.skipped, is_cut_off=is_cut_off
        )
        click.echo(answer, color=output.colour)
