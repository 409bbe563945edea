"""`kubectl spread check`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple
from typing import Optional
from typing import TYPE_CHECKING

import click

from kubectl_spread.cli import fixing
from kubectl_spread.cli.choices import accepted
from kubectl_spread.cli.choices import choice_options
from kubectl_spread.cli.choices import ChoiceOptions
from kubectl_spread.cli.choices import Inputs
from kubectl_spread.cli.choices import inputs
from kubectl_spread.cli.choices import LEVELS
from kubectl_spread.cli.choices import load_config
from kubectl_spread.cli.choices import policy
from kubectl_spread.cli.choices import read
from kubectl_spread.cli.exit import Exit
from kubectl_spread.cli.options import cluster_facts
from kubectl_spread.cli.options import colour_option
from kubectl_spread.cli.options import FactOptions
from kubectl_spread.cli.options import Facts
from kubectl_spread.cli.options import kustomize_option
from kubectl_spread.cli.options import load_facts
from kubectl_spread.cli.options import load_profiles
from kubectl_spread.cli.options import minor_version
from kubectl_spread.cli.options import placed
from kubectl_spread.cli.options import wants_colour
from kubectl_spread.cli.options import with_manifests
from kubectl_spread.cli.stderr import complain
from kubectl_spread.cli.stderr import flush
from kubectl_spread.errors import SourceError
from kubectl_spread.report.table import counted

if TYPE_CHECKING:  # imported where they are used, so that --help and usage errors stay fast
    from kubectl_spread.lint.facts import ClusterFacts
    from kubectl_spread.lint.finding import Finding
    from kubectl_spread.lint.judge import Judged
    from kubectl_spread.lint.mend import Mended
    from kubectl_spread.lint.run import Result
    from kubectl_spread.lint.settings import Config
    from kubectl_spread.objects.workload import Workload
    from kubectl_spread.simulate.placement import Placement

    Read = Callable[..., Result]
    Judge = Callable[[Sequence[Result]], Judged]

_FORMATS = ("text", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit")  # as in report.check


class _Run(NamedTuple):
    """What reading and checking the inputs gave."""

    results: list[Result]
    findings: list[Finding]
    workloads: list[Workload]
    errors: list[SourceError]
    files: int
    rejected: int = 0  # workloads that the API server would not take
    ignored: int = 0  # findings that a comment, an annotation or the config suppresses
    baselined: int = 0  # findings that the baseline has
    fixed: int = 0  # findings that are no longer there
    notes: Sequence[str] = ()  # for people


class _Output(NamedTuple):
    """A format, and the file it goes to; standard output where there is none."""

    format: str
    file: str


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("-f", "--filename", multiple=True, metavar="FILE", help="File or directory to check; - is stdin.")
@click.option("-R", "--recursive", is_flag=True, help="Look into the directories below the ones named.")
@kustomize_option
@cluster_facts
@click.option("-n", "--namespace", metavar="NAME", help="Namespace of objects that name none.  [default: default]")
@click.option("-o", "--output", multiple=True, type=click.Choice(_FORMATS), help="Output format.  [default: text]")
@click.option(
    "--output-file", multiple=True, metavar="FILE", help="Write the format of the -o in the same place to a file."
)
@choice_options
@fixing.fix_options
@click.option("--statistics", is_flag=True, help="Say at the end how many findings each rule has.")
@click.option("--show-files", is_flag=True, help="Say which files would be checked, and check none.")
@colour_option
def command(
    files: tuple[str, ...],
    filename: tuple[str, ...],
    recursive: bool,
    kustomize: tuple[str, ...],
    facts: FactOptions,
    namespace: Optional[str],
    output: tuple[str, ...],
    output_file: tuple[str, ...],
    choices: ChoiceOptions,
    fixes: fixing.FixOptions,
    statistics: bool,
    show_files: bool,
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
      2  wrong usage, or a config that cannot be followed
      3  an input could not be read

    \b
    Examples:
      # Manifests, a directory, standard input
      kubectl spread check web.yaml
      kubectl spread check -R deploy/ --ignore SPR4,double-hard
      helm template shop charts/shop | kubectl spread check -
      kubectl spread check -k overlays/production

    \b
      # Would the replicas find nodes?
      kubectl spread check web.yaml --topology zones=3,nodes=2,cpu=4,memory=16Gi
      kubectl spread check web.yaml --snapshot facts.yaml -o json

    \b
      # See what can be mended, then mend it
      kubectl spread check -R deploy/ --diff
      kubectl spread check -R deploy/ --fix

    \b
      # The whole project, as .kubectl-spread.yaml has it; only what is new
      kubectl spread check --project --write-baseline spread-baseline.json
      kubectl spread check --project --baseline spread-baseline.json

    \b
      # For code scanning, and for people
      kubectl spread check -R deploy/ -o sarif --output-file spread.sarif -o text
    """  # noqa: D301
    outputs = _outputs(output, output_file)
    fixes.check((*filename, *files), kustomize)
    config = load_config(choices)
    given = inputs((*filename, *files), choices, config, recursive=recursive, kustomized=kustomize)
    if show_files:
        return _show_files(given)
    asked = policy(choices, config, minor=minor_version(facts))
    facts = facts._replace(kubernetes_version=facts.kubernetes_version or config.kubernetes_version or None)
    known = load_facts(facts)
    namespace = namespace or "default"
    from kubectl_spread.lint import judge as judges

    check = partial(judges.read, policy=asked, config=config, namespace=namespace)
    run = _read(given, check)
    if known is not None:
        known = with_manifests(known, [result.source for result in run.results], namespace)
    run.errors.extend(known.errors if known is not None else ())
    seen = _seen(run)
    is_whole = given.is_whole and len(seen) == run.files
    wanted = accepted(choices, config, is_whole=is_whole)
    judge = partial(judges.judged, policy=asked, namespace=namespace, accepted=wanted)
    placements = _placed(run, known, namespace)
    if known is not None:
        judge = partial(judge, facts=_cluster_facts(known, placements, namespace))
    else:
        judge = partial(judge, facts=_domain_facts(config, facts, namespace))
    if fixes.diff or fixes.fix:
        outcome = fixing.mended(run.results, judge, fixes, recheck=check)
        if fixes.diff:
            return _show_fixes(run, outcome, colour=wants_colour(color))
        run = _mended(run, outcome)
        if known is not None:
            placements = _placed(run, known, namespace)
            judge = partial(judge, facts=_cluster_facts(known, placements, namespace))
    run = _judged(run, judge)
    run = _without_known(run, choices, config, names=seen, is_whole=is_whole)
    _print(run, placements, outputs, colour=wants_colour(color))
    if statistics:
        _print_statistics(run.findings)
    if any(item.format == "sarif" for item in outputs):
        return _exit_code(run, placements, "sarif")
    return _exit_code(run, placements, choices.fail_on or config.fail_on or "error")


def _show_files(given: Inputs) -> int:
    from kubectl_spread.sources.files import files

    errors = 0
    for found in files(given.paths, recursive=given.recursive, exclusion=given.exclusion):
        if isinstance(found, SourceError):
            errors += 1
            complain(found)
        else:
            click.echo(found.path)
    return Exit.UNREADABLE if errors else Exit.CLEAN


def _cluster_facts(known: Facts, placements: list[Placement], namespace: str) -> ClusterFacts:
    from kubectl_spread.simulate.facts import KnownCluster  # numpy: 80 ms

    return KnownCluster(known.cluster, known.profiles, placements=placements, namespace=namespace)


def _domain_facts(config: Config, facts: FactOptions, namespace: str) -> Optional[ClusterFacts]:
    """What the config says of the nodes' labels; nothing is placed by that."""
    if not config.domains:
        return None
    from kubectl_spread.simulate.facts import KnownCluster  # numpy: 80 ms
    from kubectl_spread.sources import topology

    cluster = topology.from_domains(config.domains)
    return KnownCluster(cluster, load_profiles(facts), namespace=namespace, keys=frozenset(config.domains))


def _placed(run: _Run, known: Optional[Facts], namespace: str) -> list[Placement]:
    from kubectl_spread.lint.judge import workloads

    owners = workloads(run.results, namespace) if known is not None else []
    return placed(owners, known) if known is not None and owners else []


def _read(given: Inputs, check: Read) -> _Run:
    """Read every input, and check what each holds by itself."""
    results: list[Result] = []
    errors: list[SourceError] = []
    for item in read(given):
        if isinstance(item, SourceError):
            errors.append(item)
        elif item.named and not item.source.text.strip():
            errors.append(SourceError(item.source.name, "the file is empty"))
        else:
            results.append(check(item.source, named=item.named))
    if not results and not errors and not given.exclusion.is_forced:
        raise SourceError(", ".join((*given.paths, *given.kustomized)), "no .yaml, .yml or .json file in it")
    return _run(results, errors)


def _run(results: list[Result], errors: list[SourceError]) -> _Run:
    rejected = sum(result.rejected for result in results)
    return _Run(results, [], [], errors, len(results) + len(errors), rejected)


def _seen(run: _Run) -> list[str]:
    """The names of the files that were read, with nothing in them hidden from the rules."""
    from kubectl_spread.lint.judge import is_seen

    return [result.source.name for result in run.results if is_seen(result)]


def _judged(run: _Run, judge: Judge) -> _Run:
    found = judge(run.results)
    return run._replace(findings=found.findings, ignored=found.ignored, workloads=found.workloads)


def _mended(run: _Run, outcome: Mended) -> _Run:
    """Write the mended texts; the run over them."""
    run.errors.extend(fixing.write(run.results, outcome.results))
    return _run(outcome.results, run.errors)._replace(fixed=len(outcome.fixed))


def _show_fixes(run: _Run, outcome: Mended, *, colour: bool) -> int:
    for error in run.errors:
        complain(error)
    code = fixing.show(run.results, outcome, colour=colour)
    return Exit.UNREADABLE if run.errors else code


def _without_known(run: _Run, choices: ChoiceOptions, config: Config, *, names: list[str], is_whole: bool) -> _Run:
    """The findings that the baseline does not have, or none once it is written; `names` are files that were seen."""
    if choices.write_baseline:
        return _write_baseline(run, choices.write_baseline, names=names, is_whole=is_whole)
    path = choices.baseline or (os.path.relpath(os.path.join(config.root, config.baseline)) if config.baseline else "")
    if not path or choices.no_ignores:
        return run
    from kubectl_spread.report import baseline
    from kubectl_spread.sources.files import read_text

    compared = baseline.compare(run.findings, baseline.read(read_text(path)), files=names, is_whole=is_whole)
    notes = [_gone(compared.gone, path)] if compared.gone else []
    return run._replace(findings=compared.findings, baselined=compared.known, notes=notes)


def _write_baseline(run: _Run, path: str, *, names: list[str], is_whole: bool) -> _Run:
    from kubectl_spread.report import baseline
    from kubectl_spread.sources.files import read_text
    from kubectl_spread.sources.write import write

    before = baseline.read(read_text(path)) if os.path.isfile(path) and os.path.getsize(path) else None
    write(path, baseline.render(run.findings, path, before=before, files=names, is_whole=is_whole))
    left = [finding for finding in run.findings if finding.is_unreadable]
    return run._replace(findings=left, baselined=len(run.findings) - len(left))


def _gone(count: int, path: str) -> str:
    them = "it" if count == 1 else "them"
    return f"{counted(count, 'finding')} of {path} no longer there: --write-baseline {path} leaves {them} out"


def _summary(run: _Run, placements: list[Placement]) -> str:
    workloads = len(run.workloads) + run.rejected
    parts = [f"checked {counted(workloads, 'workload')} in {counted(run.files, 'file')}"]
    if run.fixed:
        parts.append(f"{run.fixed} fixed")
    left = " left" if run.fixed else ""
    parts.append(counted(len(run.findings), "finding") + left if run.findings else f"no findings{left}")
    if run.ignored:
        parts.append(f"{run.ignored} ignored")
    if run.baselined:
        parts.append(f"{run.baselined} in the baseline")
    if run.rejected:
        parts.append(f"{counted(run.rejected, 'workload')} rejected")
    if placements:
        pending = sum(len(placement.pending) for placement in placements)
        parts.append(f"{counted(pending, 'pod')} Pending" if pending else "nothing Pending")
        unpredicted = sum(len(placement.unpredicted) for placement in placements)
        parts += [f"{counted(unpredicted, 'pod')} not predictable"] if unpredicted else []
    text = "\nnote: ".join((": ".join((parts[0], ", ".join(parts[1:]))), *run.notes)) + fixing.offer(run.findings)
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
    flush()
    for error in run.errors:
        complain(error)
    if any(output.format in ("text", "concise") for output in outputs):
        click.echo(_summary(run, placements), err=True)


def _print_statistics(findings: list[Finding]) -> None:
    """How many findings each rule has, the most first."""
    from kubectl_spread.report.table import table

    counts = Counter((finding.rule.code, finding.rule.name) for finding in findings)
    rows = [(str(count), *rule) for rule, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    for line in table([("FINDINGS", "CODE", "NAME"), *rows] if rows else []):
        click.echo(line, err=True)


def _counts(run: _Run) -> dict[str, int]:
    return {
        "files": run.files,
        "workloads": len(run.workloads),
        "rejected": run.rejected,
        "ignored": run.ignored,
        "baselined": run.baselined,
        "fixed": run.fixed,
    }


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
    levels = LEVELS[: LEVELS.index(fail_on) + 1]
    if "warning" in levels and any(placement.unpredicted for placement in placements):
        return Exit.FINDINGS
    return Exit.FINDINGS if any(item.rule.severity.value in levels for item in run.findings) else Exit.CLEAN
