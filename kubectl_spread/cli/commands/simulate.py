"""`kubectl spread simulate`."""

from __future__ import annotations

from typing import Any, Optional, TYPE_CHECKING

import click

from kubectl_spread.cli import complete
from kubectl_spread.cli.console import Exit, finish, Progress, progress
from kubectl_spread.cli.options import (
    answer_options,
    cluster_facts,
    DOCUMENTS,
    effort_option,
    kustomize_option,
    meant_flag,
    namespace_option,
    option,
    Output,
    page_source,
    print_document,
    redirect_output,
    SectionedCommand,
)
from kubectl_spread.errors import RequestError
from kubectl_spread.kubectl import parsing
from kubectl_spread.kubectl.parsing import Command, parse, parse_text, replica_range, StepError
from kubectl_spread.objects.keys import Range
from kubectl_spread.text.wording import nearest

if TYPE_CHECKING:  # these load numpy
    from kubectl_spread.operations.simulate import SimulateRequest, SimulateResult
    from kubectl_spread.report.scenarios import ScenarioResult

_MAX_STATES = 20_000
_SAMPLES = 100


# Flags that kubectl's commands have, and that mean the same here for all steps.
_SHARED = ("--namespace", "-n", "--output", "-o", "--help", "-h")


class StepCommand(SectionedCommand):
    """A command that separates its options from a step's words; after the verb, the step's flags come first."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own, step = self._sorted(list(args), ctx)
        files, step = self._files_of_a_named_step(step)
        return super().parse_args(ctx, [*own, *files, "--", *step])

    def _sorted(self, left: list[str], ctx: click.Context) -> tuple[list[str], list[str]]:
        params = (param for param in self.get_params(ctx) if isinstance(param, click.Option))
        options = {name: param for param in params for name in param.opts}
        own: list[str] = []
        step: list[str] = []
        while left:
            word = left.pop(0)
            if word == "--":  # after the verb, it also ends the step's own flags, as in `create job NAME -- COMMAND`
                step += left if _verb(step) is None else [word, *left]
                break
            if word == "-" or not word.startswith("-"):
                step.append(word)
                continue
            name, verb = word.partition("=")[0] if word.startswith("--") else word[:2], _verb(step)
            taken = None if verb is None or name in _SHARED else parsing.count_flag_words(word, verb, left)
            if taken is not None:
                step += [word, *left[:taken]]
                del left[:taken]
                continue
            found = options.get(name)
            if found is None:
                raise click.UsageError(_unknown_verb(step) or _unknown(word.partition("=")[0], verb, [*options]), ctx)
            own.append(word)
            if left and word == name and not found.is_flag:
                own.append(left.pop(0))
        return own, step

    def _files_of_a_named_step(self, step: list[str]) -> tuple[list[str], list[str]]:
        """Take -f out of a step that names its objects: kubectl allows no file there, so it names our manifests."""
        verb, step = _verb(step), parsing.without_prefix(step)
        if verb is None or verb.flag("filename") is None:
            return [], step
        words = step[len(verb.name.split()) :]
        own: list[str] = []
        kept: list[str] = []
        has_names = False
        while words:
            word = words.pop(0)
            if word == "--":
                kept += [word, *words]
                break
            taken = parsing.count_flag_words(word, verb, words) if word.startswith("-") and word != "-" else None
            following = words[: taken or 0]
            del words[: taken or 0]
            if word[:2] in ("-f", "-k") or word.partition("=")[0] in ("--filename", "--kustomize"):
                own += [word, *following]
                continue
            has_names |= taken is None
            kept += [word, *following]
        return (own, [*step[: len(verb.name.split())], *kept]) if has_names else ([], step)


def _unknown(name: str, verb: parsing.Verb | None, known: list[str]) -> str:
    """Return the error for a flag that neither this command nor the verb has."""
    if verb is not None:
        known += [f"--{flag.name}" for flag in verb.flags if flag.use is not parsing.Use.REFUSED]
    near = meant_flag(name, known) or nearest(name, known)
    of = f" of `{verb.name}`" if verb is not None else ""
    return f"unknown flag {name}{of}" + (f"; did you mean `{near}`?" if near else "")


def _unknown_verb(step: list[str]) -> str:
    """Return why the words are no step; empty if they are one, or may become one with the next word."""
    if not step or (step[0] in parsing.GROUPS and len(step) < 2) or step[0] == "run":
        return ""
    try:
        parsing.verb_of(step)
    except StepError as error:
        return str(error)
    return ""


def _verb(words: list[str]) -> parsing.Verb | None:
    """Return the verb of a step by its first words; None if it is incomplete or unknown."""
    try:
        return parsing.verb_of(words)
    except StepError:
        return None


@click.command(cls=StepCommand)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, shell_complete=complete.steps, metavar="STEP...")
@option("-f, --filename FILE...: Create the workloads of a manifest first.", name="paths")
@kustomize_option
@cluster_facts
@option("--then STEP...: A further step, once the cluster has settled.")
@namespace_option()
@option("--replicas MIN..MAX|hpa: A table by replicas; hpa: its range.")
@effort_option
@answer_options("text", "json", "yaml", "junit", "html")
def command(
    words: tuple[str, ...],
    then: tuple[str, ...],
    replicas: Optional[str],
    effort: float,
    output: Output,
    **asked: Any,
) -> int:
    """Simulate a kubectl command, and what controllers and the scheduler do afterwards.

    Insert `spread simulate` after `kubectl` in a command. The answer says whether it completes in every outcome, where
    the pods go, what stays Pending and why, and which evictions a budget refuses. Nothing is changed.

    \b
    Steps with kubectl's own arguments and flags:
      rollout restart|undo|pause|resume, scale, set image|resources|env, create,
      apply, patch, delete, label, annotate, drain, cordon, uncordon, taint

    \b
    Steps that kubectl does not have:
      lose KEY=VALUE, restore KEY=VALUE        nodes with a label fail, or come back
      add-nodes KEY=VALUE,count=N,cpu=4        nodes join the cluster
      run FILE|DIR                             scenario files with expectations

    \b
    Examples:
      # May I drain this node? And then bring it back?
      kubectl spread simulate drain node-a1 --ignore-daemonsets --delete-emptydir-data
      kubectl spread simulate drain node-a1 --ignore-daemonsets --then 'uncordon node-a1'
      # Will the rollout finish? With which numbers of replicas?
      kubectl spread simulate rollout restart deploy/web -n shop
      kubectl spread simulate rollout restart deploy/web --replicas 1..20
      # A manifest on a made-up cluster, as a page with pictures
      kubectl spread simulate -f web.yaml lose zone=a --topology zones=3,nodes=2 -o html=lost.html
      # The scenarios of a team, as tests
      kubectl spread simulate run scenarios/ -o junit > scenarios.xml

    \b
    Exit codes:
      0  every step completes in every outcome that was found
      1  a step may not complete, or kubectl would refuse it; or an expectation fails
      2  wrong usage
      3  an input could not be read, or the cluster could not be reached
      130  Ctrl-C or SIGTERM ended the search; what is known so far was printed
    """  # noqa: D301
    is_run = words[:1] == ("run",)
    if is_run:
        if then or asked["paths"] or asked["kustomize"] or replicas is not None:
            raise click.UsageError("a scenario names its manifests and steps itself: leave out -f, -k and --then")
        if not words[1:]:
            raise click.UsageError("name a scenario, or a directory of scenarios: `run scenarios/`")
    elif output.format == "junit":
        raise click.UsageError("-o junit is for `run`, whose scenarios have expectations")
    stage = "reading the scenarios" if is_run else "reading the cluster facts"
    with progress(stage) as under_way:
        commands: tuple[Command, ...] = ()
        if not is_run:
            if not words:
                raise click.UsageError("name a step, such as `rollout restart deploy/web`")
            first = parse(words) if words[1:] else parse_text(words[0])  # a quoted command, as --then takes it
            if asked["namespace"]:  # a flag of the first step, as kubectl reads it, and a default for the others
                first = first._replace(flags={"namespace": (asked["namespace"],), **first.flags})
            commands = (first, *map(parse_text, then))
        from kubectl_spread.cli import search
        from kubectl_spread.engine.run import Limits  # numpy: 80 ms

        seed = asked["source"].seed or 0
        limits = Limits(max_states=int(_MAX_STATES * effort), samples=int(_SAMPLES * effort), seed=seed)
        from kubectl_spread.operations import simulate

        request = simulate.SimulateRequest(commands, limits=limits, **asked)
        if is_run:
            with redirect_output(output):
                return _run(request._replace(paths=words[1:]), output, under_way)
        if replicas is not None or replica_range(commands):
            with redirect_output(output):
                return _table(request, replicas, output, under_way)
        read = simulate.read_inputs(request)
        with search.interruptible(under_way, steps=len(commands)) as watch:
            found = simulate.simulate_commands(
                request, watch, read=read, has_frames=output.format == "html", has_advice=output.format not in DOCUMENTS
            )
    with redirect_output(output):
        _print(found, output)
    return finish(found.errors, is_fine=found.is_fine, is_interrupted=found.simulation.is_interrupted)


def _table(request: SimulateRequest, replicas: Optional[str], output: Output, under_way: Progress) -> int:
    """Print a table for many numbers of replicas; without `replicas`, of a step's range or the autoscaler's."""
    from kubectl_spread.cli import search
    from kubectl_spread.operations import simulate
    from kubectl_spread.report import scenarios as report

    read = simulate.read_inputs(request)
    text = replicas or replica_range(request.commands)
    try:
        numbers = None if text == "hpa" else Range.of_text(text)
    except ValueError as error:
        raise RequestError(f"--replicas: {error}") from None
    with search.interruptible(under_way, steps=1 + len(request.commands)) as watch:
        found = simulate.replica_table(read, numbers, watch)
    if output.format in DOCUMENTS:
        print_document(report.table_document(found), output.format)
    elif output.format == "html":
        from kubectl_spread.report.pages import simulation as pages

        click.echo(pages.render_table(found, page_source(read.known)), nl=False)
    else:
        click.echo("\n".join(report.table_text(found, output.style)))
    return finish(found.errors, is_fine=found.is_fine, is_interrupted=found.is_interrupted)


def _run(request: SimulateRequest, output: Output, under_way: Progress) -> int:
    """Run scenarios, and print each result as soon as it is complete; then the document, or a summary."""
    from kubectl_spread.cli import search
    from kubectl_spread.operations.scenarios import run_scenarios
    from kubectl_spread.report import scenarios as report

    found: list[ScenarioResult] = []
    with search.interruptible(under_way, steps=2) as watch:
        for result in run_scenarios(request, watch, has_frames=output.format == "html"):
            found.append(result)
            if output.format == "text":
                click.echo("\n".join(report.lines(result, output.style)), color=output.colour)
    if output.format in DOCUMENTS:
        print_document(report.document(found), output.format)
    elif output.format == "junit":
        click.echo(report.junit(found))
    elif output.format == "html":
        from kubectl_spread.report.pages import simulation as pages

        click.echo(pages.render_scenarios(found, page_source(None)), nl=False)
    elif len(found) == 1 and found[0].simulation.steps:
        from kubectl_spread.report.simulation import render

        click.echo(f"\n{render(found[0].simulation, output.style)}", color=output.colour)
    else:
        click.echo(f"\n{report.total(found)}")
    if not watch.is_stopped and any(result.errors for result in found):
        return Exit.UNREADABLE
    return finish((), is_fine=all(result.is_fine for result in found), is_interrupted=watch.is_stopped)


def _print(found: SimulateResult, output: Output) -> None:
    unread = found.known.cluster.unread
    if output.format in DOCUMENTS:
        from kubectl_spread.report.simulation import document

        print_document(document(found.simulation, found.errors, unread), output.format)
    elif output.format == "html":
        from kubectl_spread.report.pages import simulation as pages

        source = page_source(found.known, output.style)
        click.echo(pages.render(found.simulation, source, errors=found.errors, unread=unread), nl=False)
    else:
        from kubectl_spread.report import documents
        from kubectl_spread.report.simulation import render

        click.echo(render(found.simulation, output.style), color=output.colour)
        if unread:
            click.echo(f"\n{documents.line(unread)}")
