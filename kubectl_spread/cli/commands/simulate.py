"""`kubectl spread simulate`."""

from __future__ import annotations

from typing import NamedTuple, Optional, TYPE_CHECKING

import click

from kubectl_spread.cli import complete
from kubectl_spread.cli.console import Exit, finish, flush, Progress, progress, width
from kubectl_spread.cli.options import (
    as_usage_errors,
    cluster_facts,
    colour_option,
    filename_option,
    kustomize_option,
    namespace_option,
    Output,
    output_option,
    page_source,
    redirect_output,
    search_timeout,
    wants_colour,
    wide_option,
)
from kubectl_spread.cli.step_words import StepCommand
from kubectl_spread.errors import RefusedError
from kubectl_spread.kubectl.parsing import Command, parse, parse_text, replica_range
from kubectl_spread.operations.cluster_facts import ClusterSource
from kubectl_spread.text.wording import safe

if TYPE_CHECKING:  # these load numpy
    from kubectl_spread.engine.run import Limits
    from kubectl_spread.operations.simulate import SimulateRequest, SimulateResult
    from kubectl_spread.report.scenarios import ScenarioResult

_WIDTH = 120  # if the width of the output is unknown
_MAX_STATES = 20_000
_SAMPLES = 100


class Outcomes(NamedTuple):
    """The extent of a search, from --outcomes."""

    mode: str
    samples: int = _SAMPLES


def _outcomes(_ctx: click.Context, _param: click.Parameter, text: str) -> Outcomes:
    mode, equals, number = text.partition("=")
    if mode in ("all", "first") and not equals:
        return Outcomes(mode)
    if mode == "sample" and (not equals or (number.isascii() and number.isdecimal() and 0 < int(number) <= 1_000_000)):
        return Outcomes(mode, int(number or _SAMPLES))
    if mode == "sample" and number.isascii() and number.isdecimal() and not int(number[:9]):
        raise click.BadParameter("N must be at least 1")
    raise click.BadParameter(f"{text} is not all, first or sample=N")


@click.command(cls=StepCommand)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, shell_complete=complete.steps, metavar="STEP...")
@filename_option("Create the workloads of a manifest first.")
@kustomize_option
@cluster_facts
@click.option("--then", multiple=True, metavar="STEP", help="A further step, after the cluster has settled.")
@namespace_option("Namespace of the named objects.  [default: the context's]")
@click.option(
    "--outcomes",
    default="all",
    show_default=True,
    callback=_outcomes,
    metavar="all|first|sample=N",
    help="Find every outcome, follow one run, or follow N random runs.",
)
@click.option(
    "--max-states",
    type=click.IntRange(1),
    default=_MAX_STATES,
    show_default=True,
    metavar="N",
    help="Stop visiting every state after N states and follow random runs.",
)
@search_timeout("Stop visiting every state after this time and follow random runs; 0 means no limit.")
@click.option(
    "--replicas",
    metavar="MIN..MAX",
    help="Print a table with the result of the steps for each number of replicas.",
)
@click.option("--hpa", is_flag=True, help="Like --replicas, for the range of the workload's HorizontalPodAutoscaler.")
@wide_option
@output_option("text", "json", "junit", "html", note=" junit is for `run`.")
@colour_option
@click.pass_context
def command(
    ctx: click.Context,
    words: tuple[str, ...],
    filename: tuple[str, ...],
    kustomize: tuple[str, ...],
    facts: ClusterSource,
    then: tuple[str, ...],
    namespace: Optional[str],
    outcomes: Outcomes,
    max_states: int,
    timeout: Optional[float],
    replicas: Optional[str],
    *,
    allow_remote: bool,
    hpa: bool,
    wide: bool,
    output: Output,
    color: str,
) -> int:
    """Simulate a kubectl command, and what controllers and the scheduler do afterwards.

    Insert `spread simulate` after `kubectl` in the command that you are about to run. The answer says for every outcome
    whether the command completes, where the pods go, what stays Pending and why, and which evictions a budget refuses.
    Nothing is changed.

    \b
    Steps with kubectl's own arguments and flags:
      rollout restart|undo|pause|resume, scale, set image|resources|env
      create, apply, patch, delete, label, annotate
      drain, cordon, uncordon, taint

    \b
    Steps that kubectl does not have:
      lose KEY=VALUE     all nodes with a label stop answering; after 300 s their pods are evicted
      restore KEY=VALUE  they answer again
      add-nodes KEY=VALUE,count=N,cpu=4,memory=16Gi
                         nodes join the cluster
      run FILE|DIR       the steps of scenario files, and what they expect

    \b
    Exit codes:
      0  every step completes in every outcome that was found
      1  a step may not complete, kubectl would refuse it, or an expectation of a scenario is not met
      2  wrong usage
      3  an input could not be read, or the cluster could not be reached
      130  the search was interrupted; what is known so far was printed

    \b
    Examples:
      # Will the rollout finish?
      kubectl spread simulate rollout restart deploy/web -n shop

    \b
      # What does the drain block?
      kubectl spread simulate drain node-a1 --ignore-daemonsets --delete-emptydir-data

    \b
      # One step after another
      kubectl spread simulate drain node-a1 --ignore-daemonsets --then 'uncordon node-a1' --snapshot facts.yaml

    \b
      # On a made-up cluster, with the workloads of a manifest
      kubectl spread simulate -f web.yaml rollout restart deploy/web --topology zones=3,nodes=2

    \b
      # Which numbers of replicas can be rolled out?
      kubectl spread simulate rollout restart deploy/web --replicas 1..20

    \b
      # A page with pictures of the outcomes, and of a run event by event
      kubectl spread simulate rollout restart deploy/web -o html=rollout.html

    \b
      # The scenarios of a team, as tests
      kubectl spread simulate run scenarios/ -o junit > scenarios.xml
    """  # noqa: D301
    looked_at = _Limits(outcomes, max_states, timeout, facts.seed or 0)
    style = _Style(output.format, wants_colour(color) and not output.file, wide)
    if words[:1] == ("run",):
        if any((then, filename, kustomize, replicas, hpa)):
            raise click.UsageError("a scenario names its manifests and steps itself: leave out -f, -k and --then", ctx)
        with redirect_output(output):
            return _run(words[1:], facts, namespace, looked_at, style, ctx, allow_remote=allow_remote)
    if output.format == "junit":
        raise click.UsageError("-o junit is for `run`, whose scenarios have expectations", ctx)
    if replicas is not None and hpa:
        raise click.UsageError("--replicas and --hpa exclude each other", ctx)
    with as_usage_errors(ctx), progress("reading the cluster facts") as under_way:
        commands = _commands(words, then, ctx, namespace=namespace)
        from kubectl_spread.operations.simulate import SimulateRequest  # numpy: 80 ms

        request = SimulateRequest(
            commands, filename, kustomize, facts, namespace, looked_at.limits(), hpa, allow_remote
        )
        try:
            if hpa or replicas is not None or replica_range(commands):
                with redirect_output(output):
                    return _table(request, replicas, style, under_way)
            found = _simulated(request, under_way, has_frames=output.format == "html")
        except RefusedError as error:
            click.echo(safe(str(error)), err=True)
            return Exit.FINDINGS
    with redirect_output(output):
        _print(found, style)
    return finish(found.errors, is_fine=found.is_fine, is_interrupted=found.simulation.is_interrupted)


def _simulated(request: SimulateRequest, under_way: Progress, *, has_frames: bool) -> SimulateResult:
    """Play the steps; Ctrl-C ends the search."""
    from kubectl_spread.cli import search
    from kubectl_spread.operations import simulate

    read = simulate.read_inputs(request)
    watch = search.ShownWatch(under_way, steps=len(request.commands))
    with search.interruptible(watch):
        return simulate.simulate_commands(request, watch, read=read, has_frames=has_frames)


def _table(request: SimulateRequest, replicas: Optional[str], style: _Style, under_way: Progress) -> int:
    """Print a table for many numbers of replicas; without `replicas`, of a step's range or the autoscaler's."""
    from kubectl_spread.cli import search
    from kubectl_spread.operations import replica_table, simulate
    from kubectl_spread.report import replicas as report

    read = simulate.read_inputs(request)
    text = replicas or replica_range(request.commands)
    numbers = None if request.has_autoscalers else replica_table.counts(text)
    watch = search.ShownWatch(under_way, steps=1 + len(request.commands))
    with search.interruptible(watch):
        found = replica_table.table(request, read, numbers=numbers, watch=watch)
    if style.output == "json":
        from kubectl_spread.report.documents import dumps

        click.echo(dumps(report.document(found)))
    elif style.output == "html":
        from kubectl_spread.report.pages import simulation as pages

        click.echo(pages.render_table(found, page_source(read.known)), nl=False)
    else:
        click.echo("\n".join(report.text(found, width=width(_WIDTH))))
    return finish(found.errors, is_fine=found.is_fine, is_interrupted=found.is_interrupted)


def _run(
    paths: tuple[str, ...],
    facts: ClusterSource,
    namespace: Optional[str],
    looked_at: _Limits,
    style: _Style,
    ctx: click.Context,
    *,
    allow_remote: bool,
) -> int:
    """Run scenarios, and print each result as soon as it is complete."""
    if not paths:
        raise click.UsageError("name a scenario, or a directory of scenarios: `run scenarios/`", ctx)
    with as_usage_errors(ctx), progress("reading the scenarios") as under_way:
        from kubectl_spread.cli import search  # numpy: 80 ms, as the next one
        from kubectl_spread.operations.scenarios import run_scenarios, ScenarioRequest
        from kubectl_spread.report import scenarios as report

        request = ScenarioRequest(paths, facts, namespace, looked_at.limits(), style.output == "html", allow_remote)
        watch = search.ShownWatch(under_way, steps=2)

        def begin(file: str) -> None:
            watch.name = f"{file}: "

        found: list[ScenarioResult] = []
        with search.interruptible(watch):
            for result in run_scenarios(request, watch, begin):
                found.append(result)
                if style.output == "text":
                    lines = report.lines(result, width=width(_WIDTH), colour=style.colour)
                    click.echo("\n".join(lines), color=True)
        _print_scenarios(found, style)
        flush()
        if watch.is_stopped:
            return Exit.INTERRUPTED
        if any(result.errors for result in found):
            return Exit.UNREADABLE
        return Exit.CLEAN if all(result.is_fine for result in found) else Exit.FINDINGS


def _print_scenarios(found: list[ScenarioResult], style: _Style) -> None:
    """Print what follows the results: the document, or a summary."""
    from kubectl_spread.report import scenarios as report

    if style.output == "json":
        from kubectl_spread.report.documents import dumps

        click.echo(dumps(report.document(found)))
    elif style.output == "junit":
        click.echo(report.junit(found))
    elif style.output == "html":
        from kubectl_spread.report.pages import simulation as pages

        click.echo(pages.render_scenarios(found, page_source(None)), nl=False)
    elif len(found) == 1 and found[0].simulation.steps:
        from kubectl_spread.report.simulation import render
        from kubectl_spread.report.table import Style

        click.echo(f"\n{render(found[0].simulation, Style(width(_WIDTH), style.colour))}", color=True)
    else:
        click.echo(f"\n{report.total(found)}")


class _Style(NamedTuple):
    """The format of the answer."""

    output: str
    colour: bool
    is_wide: bool


class _Limits(NamedTuple):
    """The limits of the search."""

    outcomes: Outcomes
    max_states: int
    timeout_s: Optional[float]
    seed: int

    def limits(self) -> Limits:
        """Return the limits in the form that the engine takes."""
        from kubectl_spread.engine.run import Limits, Mode

        return Limits(Mode(self.outcomes.mode), self.max_states, self.outcomes.samples, self.timeout_s, self.seed)


def _commands(
    words: tuple[str, ...], then: tuple[str, ...], ctx: click.Context, *, namespace: Optional[str]
) -> tuple[Command, ...]:
    """Return the steps; --namespace is a flag of the first, as kubectl reads it, and a default for the others."""
    if not words:
        raise click.UsageError("name a step, such as `rollout restart deploy/web`", ctx)
    first = parse(words)
    if namespace:
        first = first._replace(flags={"namespace": (namespace,), **first.flags})
    return (first, *map(parse_text, then))


def _print(found: SimulateResult, style: _Style) -> None:
    unreadable = found.known.cluster.unread
    if style.output == "json":
        from kubectl_spread.report.documents import dumps
        from kubectl_spread.report.simulation import document

        click.echo(dumps(document(found.simulation, found.errors, unreadable)))
        return
    if style.output == "html":
        from kubectl_spread.report.pages import simulation as pages

        source = page_source(found.known)
        click.echo(pages.render(found.simulation, source, errors=found.errors, unread=unreadable), nl=False)
        return
    from kubectl_spread.report.simulation import render
    from kubectl_spread.report.table import Style

    click.echo(render(found.simulation, Style(width(_WIDTH), style.colour, style.is_wide)), color=True)
    if unreadable:
        from kubectl_spread.report import documents

        click.echo(f"\n{documents.line(unreadable)}")
