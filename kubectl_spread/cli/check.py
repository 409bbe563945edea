"""`kubectl spread check`."""

from __future__ import annotations

import os
from typing import NamedTuple
from typing import Optional
from typing import TYPE_CHECKING

import click

from kubectl_spread.cli import acceptance
from kubectl_spread.cli import checking
from kubectl_spread.cli import complete
from kubectl_spread.cli import fix_options
from kubectl_spread.cli import showing
from kubectl_spread.cli import skipped
from kubectl_spread.cli import targets
from kubectl_spread.cli.complete import FILE
from kubectl_spread.cli.options import cluster_facts
from kubectl_spread.cli.options import colour_option
from kubectl_spread.cli.options import FactOptions
from kubectl_spread.cli.options import Facts
from kubectl_spread.cli.options import kustomize_option
from kubectl_spread.cli.options import load_facts
from kubectl_spread.cli.options import named_facts
from kubectl_spread.cli.options import open_session
from kubectl_spread.cli.options import wants_colour
from kubectl_spread.cli.progress import progress
from kubectl_spread.cli.rule_options import choice_options
from kubectl_spread.cli.rule_options import ChoiceOptions
from kubectl_spread.cli.rule_options import inputs
from kubectl_spread.cli.rule_options import load_config
from kubectl_spread.cli.summary import complete_outputs
from kubectl_spread.cli.summary import Counts
from kubectl_spread.cli.summary import exit_code
from kubectl_spread.cli.summary import FORMATS
from kubectl_spread.cli.summary import is_for_people
from kubectl_spread.cli.summary import Outcome
from kubectl_spread.cli.summary import Output
from kubectl_spread.cli.summary import outputs
from kubectl_spread.cli.summary import print_outcome
from kubectl_spread.errors import ClusterError
from kubectl_spread.objects.plain import fields

if TYPE_CHECKING:  # imported where they are used, so that --help and usage errors stay fast
    from kubectl_spread.cluster.snapshot import Unread
    from kubectl_spread.lint.selection.policy import Config
    from kubectl_spread.objects.workload import Workload
    from kubectl_spread.report.check import Running
    from kubectl_spread.simulate.placement import Placement
    from kubectl_spread.sources.live.reading import Session


@click.command()
@click.argument("files", nargs=-1, shell_complete=complete.files_or_targets, metavar="[FILE | TYPE/NAME]...")
@click.option(
    "-f",
    "--filename",
    multiple=True,
    type=FILE,
    metavar="FILE",
    help="File or directory to check; - is standard input. Repeatable.",
)
@click.option("-R", "--recursive", is_flag=True, help="Also check the directories below the named ones.")
@kustomize_option
@cluster_facts
@click.option(
    "-n",
    "--namespace",
    metavar="NAME",
    shell_complete=complete.namespaces,
    help="Namespace of the running workloads, and of objects that name none.  [default: the context's, or default]",
)
@click.option("-A", "--all-namespaces", is_flag=True, help="Check the running workloads of all namespaces.")
@click.option(
    "-l", "--selector", "label_selector", metavar="SELECTOR", help="Check only running workloads with these labels."
)
@click.option(
    "-o",
    "--output",
    multiple=True,
    metavar="FORMAT[=FILE]",
    callback=outputs,
    shell_complete=complete_outputs,
    help=f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}; with =FILE, written to that file. Repeatable.  [default: text]",
)
@click.option("--output-file", type=FILE, metavar="FILE", help="File for the output, if there is only one format.")
@choice_options
@fix_options.fix_options
@click.option("--statistics", is_flag=True, help="Print the number of findings per rule at the end.")
@click.option(
    "--show-files",
    is_flag=True,
    help="List the files that would be checked and their project roots, without checking them.",
)
@colour_option
@click.pass_context
def command(
    ctx: click.Context,
    files: tuple[str, ...],
    filename: tuple[str, ...],
    recursive: bool,
    kustomize: tuple[str, ...],
    facts: FactOptions,
    namespace: Optional[str],
    all_namespaces: bool,
    label_selector: Optional[str],
    output: tuple[Output, ...],
    output_file: Optional[str],
    choices: ChoiceOptions,
    fixes: fix_options.FixOptions,
    statistics: bool,
    show_files: bool,
    color: str,
) -> int:
    """Check topology spread constraints in manifests or of running workloads.

    Without cluster facts, check reports what the API server would reject and what would go wrong later. With --live,
    --snapshot or --topology, it also places every replica as kube-scheduler would, and reports which replicas stay
    Pending and why.

    In a directory, it reads the files that end in .yaml, .yml or .json; with -R also those in subdirectories, except
    hidden and linked ones. A named file may have any extension. --show-files lists the files.

    Without files, it checks the workloads that run in the live cluster or in a snapshot. It reports wrong constraints,
    violated constraints, Pending pods with the reason, and rollouts that would get stuck.

    \b
    Exit codes:
      0  nothing to report
      1  findings, or pods that stay Pending or are rejected; with --fail-on warning or info also unpredictable pods
      2  wrong usage, or an invalid configuration file
      3  an input could not be read, or the cluster could not be reached
    With -o sarif as the only format, findings exit with 0 unless --fail-on is given.

    \b
    Examples:
      # Check a file, a directory, standard input, a kustomization
      kubectl spread check web.yaml
      kubectl spread check -R deploy/ --ignore SPR4,selector-missing
      helm template shop charts/shop | kubectl spread check -
      kubectl spread check -k overlays/production

    \b
      # Would all replicas be scheduled?
      kubectl spread check web.yaml --topology zones=3,nodes=2,cpu=4,memory=16Gi
      kubectl spread check web.yaml --snapshot facts.yaml -o json
      kubectl spread check web.yaml --live

    \b
      # Check running workloads: of a namespace, of all namespaces, just one
      kubectl spread check -n shop
      kubectl spread check -A -l team=web --snapshot facts.yaml
      kubectl spread check deploy/web -n shop

    \b
      # Show the fixes, then apply them
      kubectl spread check -R deploy/ --diff
      kubectl spread check -R deploy/ --fix

    \b
      # Check the whole project, and report only new findings
      kubectl spread check --project --write-baseline spread-baseline.json
      kubectl spread check --project --baseline spread-baseline.json

    \b
      # Write SARIF for code scanning, and text to the terminal
      kubectl spread check -R deploy/ -o sarif=spread.sarif -o text
    """  # noqa: D301
    chosen = _chosen(output, output_file)
    fixes.check((*filename, *files), kustomize)
    config = load_config(choices)
    asked_for = Live(files, namespace, all_namespaces, label_selector)
    if asked_for.means_running(has_files=bool(filename or kustomize or choices.project), config=config, facts=facts):
        if fixes.diff or fixes.fix or show_files:
            raise click.UsageError("what runs has no file: --fix, --diff and --show-files go with manifests", ctx)
        outcome = _running(asked_for, choices, config, facts, ctx)
        print_outcome(outcome, chosen, colour=wants_colour(color), statistics=statistics)
        return _code(outcome, chosen, choices, config)
    given = inputs((*filename, *files), choices, config, recursive=recursive, kustomized=kustomize)
    if show_files:
        return showing.show_files(given, checking.asked(choices, config, facts=facts, namespace=namespace))
    session = open_session(facts)
    asked = checking.asked(choices, config, facts=facts, namespace=namespace, session=session)
    read = checking.read(given, asked)
    known = load_facts(asked.facts, session, checking.question(read, asked) if session is not None else None)
    known = checking.beside(known, read, namespace=asked.namespace)
    unread = list(known.errors) if known is not None else []
    placements = checking.placed(read, known, namespace=asked.namespace)
    judge = checking.judge(read, asked, known=known, placements=placements)
    if fixes.diff or fixes.fix:
        mended = fix_options.mended(read.results, judge, fixes, recheck=asked.check)
        if fixes.diff:
            return fix_options.show(
                read.results,
                mended,
                fixes,
                recheck=asked.check,
                errors=[*read.errors, *unread],
                colour=wants_colour(color),
            )
        read = checking.written(read, mended, asked)
        placements = checking.placed(read, known, namespace=asked.namespace)
        judge = checking.judge(read, asked, known=known, placements=placements)
    judged = judge(read.results)
    fresh = acceptance.fresh(judged.findings, read, asked)
    counts = Counts(read.files, len(judged.workloads), read.rejected, judged.ignored, fresh.known, read.fixed)
    counts = skipped.counted_in(counts, read.results)
    names = tuple(result.source.name for result in read.results)
    not_applied = _not_applied(known, placements)
    notes = (*fresh.notes, *skipped.notes(read.results), *_not_applied_notes(not_applied))
    outcome = Outcome(fresh.findings, placements, [*read.errors, *unread], counts, names, notes)
    if is_for_people(chosen):
        outcome = outcome._replace(offer=fix_options.offer(read.results, fresh.findings, fixes, recheck=asked.check))
    outcome = outcome._replace(
        running=_replaced(read, known, judged.workloads),
        unread=_unread(known),
        unread_inputs=read.files - len(read.results),
        not_applied=not_applied,
    )
    print_outcome(outcome, chosen, colour=wants_colour(color), statistics=statistics)
    return _code(outcome, chosen, choices, config)


class Live(NamedTuple):
    """What the command line says about which workloads that run are meant; `words` may be files, too."""

    words: tuple[str, ...]
    namespace: Optional[str]
    all_namespaces: bool
    label_selector: Optional[str]

    def means_running(self, *, has_files: bool, config: Config, facts: FactOptions) -> bool:
        """Whether workloads that run are to be checked, not manifests: they are named, or nothing else is.

        Raises:
            click.UsageError: files are named beside workloads.
        """
        names = [word for word in self.words if _is_target(word)]
        if not (names or self.all_namespaces or self.label_selector is not None):
            if facts.topology is not None or has_files or self.words or config.paths:
                return False
            return self.namespace is not None or facts.are_named or _is_cluster_known(facts)
        if has_files or len(names) < len(self.words):
            raise click.UsageError("files and what runs cannot be checked together", click.get_current_context())
        return True


def _is_cluster_known(facts: FactOptions) -> bool:
    """Whether there is a live cluster to ask, as kubectl would find it."""
    try:
        open_session(facts.or_live())
    except ClusterError:
        return False
    return True


def _is_target(word: str) -> bool:
    """Whether a word is TYPE/NAME, and not a file."""
    kind, slash, name = word.partition("/")
    if not slash or "/" in name or not name or os.path.exists(word):
        return False
    from kubectl_spread.objects.kinds import kind_named

    return kind_named(kind) is not None


def _running(live: Live, choices: ChoiceOptions, config: Config, facts: FactOptions, ctx: click.Context) -> Outcome:
    """Check workloads that run."""
    named = targets.named(live.words, ctx, verb="check")
    selector = targets.selector(live.label_selector, named, ctx)
    if live.all_namespaces and (live.namespace is not None or named.targets):
        what = "--namespace" if live.namespace is not None else "a resource by name"
        raise click.UsageError(f"{what} and --all-namespaces exclude each other", ctx)
    facts = facts.or_live()
    session = open_session(facts)
    asked = checking.asked(choices, config, facts=facts, namespace=live.namespace, session=session)
    namespace = "" if live.all_namespaces else asked.namespace
    asked = asked._replace(namespace="default")  # what runs names its own
    with progress("reading the cluster facts"):
        known = _known(asked.facts, session, named, namespace)
        from kubectl_spread.cli import running  # numpy: 80 ms

        wanted = running.Wanted(named, selector, namespace)
        found = running.check(known, asked, wanted)
        # The rules may ask where each workload goes: told for all at once, it is not worked out for one at a time.
        placements = checking.placed(found.read, known, namespace=asked.namespace)
        judged = checking.judge(found.read, asked, known=known, placements=placements)(found.read.results)
    read = found.read
    findings = [item._replace(repair=None) for item in judged.findings]  # there is no file to mend
    fresh = acceptance.fresh(findings, read, asked)
    counts = Counts(read.files, len(judged.workloads), read.rejected, judged.ignored, fresh.known, 0)
    names = tuple(result.source.name for result in read.results)
    notes = (*fresh.notes, *found.notes)
    outcome = Outcome(fresh.findings, [], list(known.errors), counts, names, notes)
    return outcome._replace(running=found.running, where=wanted.where, absent=found.absent, unread=_unread(known))


def _not_applied(known: Optional[Facts], placements: list[Placement]) -> tuple[str, ...]:
    """The kinds that the API server looks at for new pods, and a snapshot of an earlier version does not hold."""
    complete = known.cluster.complete if known is not None else frozenset[str]()
    is_created = any(not pod.ran_already for placement in placements for pod in placement.placed)
    is_snapshot = bool(complete) and is_created
    return tuple(kind for kind in ("LimitRange", "ResourceQuota") if is_snapshot and kind not in complete)


def _not_applied_notes(kinds: tuple[str, ...]) -> tuple[str, ...]:
    return (f"the cluster facts hold no {' and no '.join(kinds)} objects, so none is applied",) if kinds else ()


def _unread(known: Optional[Facts]) -> tuple[Unread, ...]:
    return known.cluster.unread if known is not None else ()


def _known(facts: FactOptions, session: Optional[Session], named: targets.Named, namespace: str) -> Facts:
    """The cluster that is named, or the live one as far as the workloads need it."""
    if session is None:
        return named_facts(facts)
    from kubectl_spread.cli import live
    from kubectl_spread.sources.live.resources import Question

    kinds = tuple(sorted({target.kind for target in named.targets}))
    return live.load(facts, session, Question(namespace, kinds, is_overview=not kinds))


def _replaced(read: checking.Read, known: Optional[Facts], owners: list[Workload]) -> Optional[Running]:
    """What becomes of the rollouts that the manifests start on the cluster."""
    if known is None or not known.cluster.controllers:
        return None
    from kubectl_spread.cli import running

    specs = {
        checked.workload.key: fields(checked.manifest.plain.get("spec"))
        for result in read.results
        for checked in result.workloads
    }
    return running.replaced(owners, specs, known)


def _code(outcome: Outcome, chosen: list[Output], choices: ChoiceOptions, config: Config) -> int:
    fail_on = choices.fail_on or config.fail_on or "error"
    return exit_code(outcome, chosen, fail_on=fail_on, is_asked=choices.fail_on is not None)


def _chosen(asked: tuple[Output, ...], file: Optional[str]) -> list[Output]:
    """What goes where; text to standard output where nobody says anything."""
    chosen = list(asked or (Output("text", ""),))
    if file is not None:
        if len(chosen) > 1 or chosen[0].file:
            raise click.UsageError(f"--output-file is for one output: write -o {chosen[-1].format}={file}")
        return [chosen[0]._replace(file=file)]
    if sum(not output.file for output in chosen) > 1:
        name = chosen[-1].format
        raise click.UsageError(f"only one format can go to standard output: name a file, -o {name}=FILE")
    return chosen
