"""`kubectl spread check`."""

from __future__ import annotations

import sys
from typing import NamedTuple
from typing import Optional
from typing import TYPE_CHECKING

import click

from kubectl_spread.cli.exit import Exit
from kubectl_spread.cli.options import cluster_facts
from kubectl_spread.cli.options import colour_option
from kubectl_spread.cli.options import FactOptions
from kubectl_spread.cli.options import Facts
from kubectl_spread.cli.options import load_facts
from kubectl_spread.cli.options import minor_version
from kubectl_spread.cli.options import placed
from kubectl_spread.cli.options import wants_colour
from kubectl_spread.cli.options import with_manifests
from kubectl_spread.cli.stderr import complain
from kubectl_spread.errors import SourceError
from kubectl_spread.report.table import counted

if TYPE_CHECKING:  # imported where they are used, so that --help and usage errors stay fast
    from kubectl_spread.lint.facts import ClusterFacts
    from kubectl_spread.lint.finding import Finding
    from kubectl_spread.lint.project import TargetCluster
    from kubectl_spread.lint.run import Checked
    from kubectl_spread.lint.run import Result
    from kubectl_spread.simulate.placement import Placement
    from kubectl_spread.sources.files import Input

_FORMATS = ("text", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit")  # as in report.check
_LEVELS = ("error", "warning", "info")  # the worst first


class _Run(NamedTuple):
    """What reading and checking the inputs gave."""

    results: list[Result]
    findings: list[Finding]
    workloads: list[Checked]
    errors: list[SourceError]
    files: int
    rejected: int = 0  # workloads that the API server would not take
    ignored: int = 0  # findings that a comment or annotation suppresses


class _Output(NamedTuple):
    """A format, and the file it goes to; standard output where there is none."""

    format: str
    file: str


class _Judge(NamedTuple):
    """Which rules are asked for, what is known of the cluster, and whether suppressions count."""

    codes: frozenset[str]
    target: TargetCluster
    facts: Optional[ClusterFacts]
    has_ignores: bool


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("-f", "--filename", multiple=True, metavar="FILE", help="File or directory to check; - is stdin.")
@click.option("-R", "--recursive", is_flag=True, help="Look into the directories below the ones named.")
@cluster_facts
@click.option("-n", "--namespace", metavar="NAME", help="Namespace of objects that name none.  [default: default]")
@click.option("-o", "--output", multiple=True, type=click.Choice(_FORMATS), help="Output format.  [default: text]")
@click.option(
    "--output-file", multiple=True, metavar="FILE", help="Write the format of the -o in the same place to a file."
)
@click.option(
    "--fail-on",
    type=click.Choice([*_LEVELS, "never"]),
    default="error",
    show_default=True,
    help="Exit 1 on findings of this severity or worse.",
)
@click.option("--select", multiple=True, metavar="RULES", help="Only these rules: codes, prefixes or names, by commas.")
@click.option("--extend-select", multiple=True, metavar="RULES", help="These rules besides the default ones.")
@click.option("--ignore", multiple=True, metavar="RULES", help="Not these rules; of two, the longer prefix counts.")
@click.option("--no-ignores", is_flag=True, help="Report what comments and annotations suppress, too.")
@colour_option
@click.pass_context
def command(
    ctx: click.Context,
    files: tuple[str, ...],
    filename: tuple[str, ...],
    recursive: bool,
    facts: FactOptions,
    namespace: Optional[str],
    output: tuple[str, ...],
    output_file: tuple[str, ...],
    fail_on: str,
    select: tuple[str, ...],
    extend_select: tuple[str, ...],
    ignore: tuple[str, ...],
    no_ignores: bool,
    color: str,
) -> int:
    """Check topology spread constraints in manifests.

    Without cluster facts it says what the API server would reject, or what would fail later. With --snapshot or
    --topology it also places every replica of every workload, one after another by the scheduler's rules,
    and says which stay Pending and why.

    \b
    Exit codes:
      0  nothing to report
      1  findings, or Pending pods; with --fail-on warning or info also pods that are not predictable
      2  wrong usage
      3  an input could not be read

    \b
    Examples:
      # Manifests, a directory, standard input
      kubectl spread check web.yaml
      kubectl spread check -R deploy/ --ignore SPR4,double-hard
      helm template shop charts/shop | kubectl spread check -

    \b
      # Would the replicas find nodes?
      kubectl spread check web.yaml --topology zones=3,nodes=2,cpu=4,memory=16Gi
      kubectl spread check web.yaml --snapshot facts.yaml -o json

    \b
      # For code scanning, and for people
      kubectl spread check -R deploy/ -o sarif --output-file spread.sarif -o text
    """  # noqa: D301
    paths = (*filename, *files)
    if not paths:
        raise click.UsageError("name a file or directory to check, or - for standard input", ctx)
    if paths.count("-") > 1:
        raise click.UsageError("standard input cannot be read twice", ctx)
    outputs = _outputs(output, output_file)
    codes = _codes(select, ignore, extend_select)
    known = load_facts(facts)
    run = _read(paths, recursive=recursive)
    if known is not None:
        known = with_manifests(known, [result.source for result in run.results], namespace or "default")
    run.errors.extend(known.errors if known is not None else ())
    placements = _place(run.workloads, known, namespace or "default")
    cluster = _cluster_facts(known, placements, namespace or "default")
    judge = _Judge(codes, _target(facts), cluster, has_ignores=not no_ignores)
    findings, ignored = _all_findings(run.results, judge)
    run = run._replace(findings=findings, ignored=ignored)
    _print(run, placements, outputs, colour=wants_colour(color))
    if any(item.format == "sarif" for item in outputs):
        fail_on = "sarif"
    return _exit_code(run, placements, fail_on)


def _codes(select: tuple[str, ...], ignore: tuple[str, ...], extend: tuple[str, ...]) -> frozenset[str]:
    from kubectl_spread.lint.select import selected
    from kubectl_spread.lint.select import UnknownRuleError

    try:
        return selected(select, ignore, extend)
    except UnknownRuleError as error:
        raise click.UsageError(str(error)) from None


def _target(facts: FactOptions) -> TargetCluster:
    from kubectl_spread.lint.project import TargetCluster

    return TargetCluster(minor=minor_version(facts))


def _cluster_facts(known: Optional[Facts], placements: list[Placement], namespace: str) -> Optional[ClusterFacts]:
    if known is None:
        return None
    from kubectl_spread.simulate.facts import KnownCluster  # numpy: 80 ms

    return KnownCluster(known.cluster, known.profiles, placements=placements, namespace=namespace)


def _read(paths: tuple[str, ...], *, recursive: bool) -> _Run:
    """Read the inputs; their findings are yet to be made."""
    from kubectl_spread.sources.files import inputs

    results: list[Result] = []
    run = _Run(results, [], [], [], 0)
    files = rejected = 0
    for given in inputs(paths, recursive=recursive):
        files += 1
        if isinstance(given, SourceError):
            run.errors.append(given)
            continue
        if given.named and not given.source.text.strip():
            run.errors.append(SourceError(given.source.name, "the file is empty"))
            continue
        result = _check_input(given, run)
        rejected += result.rejected
        results.append(result)
    if not files:
        raise SourceError(", ".join(paths), "no .yaml, .yml or .json file in it")
    return run._replace(files=files, rejected=rejected)


def _all_findings(results: list[Result], judge: _Judge) -> tuple[list[Finding], int]:
    """What the API server would say, and the rules about workloads, by place; and how many were suppressed."""
    from kubectl_spread.lint import suppress
    from kubectl_spread.lint.project import Project
    from kubectl_spread.lint.workloads import check_workloads
    from kubectl_spread.lint.workloads import in_order

    project = Project(
        [subject for result in results for subject in result.subjects],
        [manifest for result in results for manifest in result.others],
        target=judge.target,
        facts=judge.facts,
    )
    by_source = [finding for result in results for finding in result.findings]
    findings = [*by_source, *check_workloads(project, judge.codes)]
    # What hides a document from every rule is told whichever rules are asked for.
    chosen = [finding for finding in findings if finding.is_unreadable or finding.rule.code in judge.codes]
    ignored = 0
    if judge.has_ignores:
        wishes = [
            *(wish for result in results for wish in suppress.commented(result.source)),
            *(wish for subject in project.subjects for wish in suppress.annotated(subject)),
        ]
        chosen, ignored = suppress.sift(chosen, wishes, judge.codes)
    return in_order(chosen, [result.source for result in results]), ignored


def _check_input(given: Input, run: _Run) -> Result:
    """Check what one input holds by itself, and add its workloads to the run."""
    from kubectl_spread.lint.run import check_source

    result = check_source(given.source, named=given.named)
    run.workloads.extend(result.workloads)
    return result


def _place(workloads: list[Checked], known: Optional[Facts], namespace: str) -> list[Placement]:
    if known is None or not workloads:
        return []
    owners = [
        item.workload if item.manifest.namespace else item.workload._replace(namespace=namespace) for item in workloads
    ]
    return placed(owners, known)


def _summary(run: _Run, placements: list[Placement]) -> str:
    workloads = len(run.workloads) + run.rejected
    parts = [f"checked {counted(workloads, 'workload')} in {counted(run.files, 'file')}"]
    parts.append(counted(len(run.findings), "finding") if run.findings else "no findings")
    if run.ignored:
        parts.append(f"{run.ignored} ignored")
    if run.rejected:
        parts.append(f"{counted(run.rejected, 'workload')} rejected")
    if placements:
        pending = sum(len(placement.pending) for placement in placements)
        parts.append(f"{counted(pending, 'pod')} Pending" if pending else "nothing Pending")
        unpredicted = sum(len(placement.unpredicted) for placement in placements)
        parts += [f"{counted(unpredicted, 'pod')} not predictable"] if unpredicted else []
    text = ": ".join((parts[0], ", ".join(parts[1:])))
    if any(pod.hosts > 1 for placement in placements for pod in placement.placed):
        text += "\nnote: where several nodes have the highest score, the scheduler may take any of them; "
        text += "here it is the first by name, or with --seed one that is drawn"
    return text


def _print(run: _Run, placements: list[Placement], outputs: list[_Output], *, colour: bool) -> None:
    """Write every output, then say on stderr what was not read, and what was."""
    from kubectl_spread.report.check import CheckReport
    from kubectl_spread.report.check import render

    names = tuple(result.source.name for result in run.results)
    report = CheckReport(run.findings, placements, run.errors, _counts(run), names)
    for output in outputs:
        text = render(report, output.format, colour=colour and not output.file)
        if output.file:
            from kubectl_spread.sources.write import write

            write(output.file, text + "\n" if text else "")
        elif text:
            click.echo(text, color=True)
    sys.stdout.flush()
    for error in run.errors:
        complain(error)
    if any(output.format in ("text", "concise") for output in outputs):
        click.echo(_summary(run, placements), err=True)


def _counts(run: _Run) -> dict[str, int]:
    return {"files": run.files, "workloads": len(run.workloads), "rejected": run.rejected, "ignored": run.ignored}


def _outputs(formats: tuple[str, ...], files: tuple[str, ...]) -> list[_Output]:
    """Which format goes where: to the files in order, what is left to standard output."""
    chosen = formats or ("text",)
    if len(files) > len(chosen):
        raise click.UsageError("more --output-file than -o: each takes the format of the -o in its place")
    if len(chosen) - len(files) > 1:
        raise click.UsageError("only one format can go to standard output: name an --output-file for the others")
    return [_Output(name, files[at] if at < len(files) else "") for at, name in enumerate(chosen)]


def _exit_code(run: _Run, placements: list[Placement], fail_on: str) -> int:
    if run.errors or any(finding.is_unreadable for finding in run.findings):
        return Exit.UNREADABLE
    if fail_on == "sarif":
        return Exit.CLEAN  # who reads it decides
    if any(placement.pending for placement in placements):
        return Exit.FINDINGS
    if fail_on == "never":
        return Exit.CLEAN
    levels = _LEVELS[: _LEVELS.index(fail_on) + 1]
    if "warning" in levels and any(placement.unpredicted for placement in placements):
        return Exit.FINDINGS
    return Exit.FINDINGS if any(item.rule.severity.value in levels for item in run.findings) else Exit.CLEAN
