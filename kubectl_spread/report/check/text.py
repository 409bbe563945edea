"""A check's report for people: findings with their lines, then the placement of the replicas."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.containers import grouped
from kubectl_spread.lint.finding import Finding, Severity
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.report import table
from kubectl_spread.report.check.report import CheckReport
from kubectl_spread.report.table import hang_indent, NARROWEST, paint, unpainted
from kubectl_spread.report.wording import MOST_ALIKE, together
from kubectl_spread.text.source import Place
from kubectl_spread.text.wording import comma_list, count_noun, first_of, safe

if TYPE_CHECKING:
    from kubectl_spread.lint.check_source import Result
    from kubectl_spread.lint.kustomization import Kustomization


_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
_MAX_LINE = 160


def lines(
    finding: Finding,
    others: Sequence[Finding] = (),
    *,
    width: Optional[int] = None,
    is_running: bool = False,
    is_brief: bool = False,
) -> list[str]:
    """Return a finding: place and message, the object, the source line with a caret, the hint, and where else it is.

    Sentences wrap at `width`, and the source line is cut; None does neither. A running workload has no file whose line
    could be shown, and its place names it. If `is_brief`, leave out the name of the rule, the source line and related
    places.
    """
    severity = finding.rule.severity
    head = f"{location(finding.place)}: {paint(severity.value, _STYLES[severity])} {finding.rule.code}"
    owner = f"in {object_text(finding.object)}" if finding.object.kind and not is_running else ""
    origin = [text for text in (owner, rendered_from(finding.place)) if text]
    if is_brief:
        end = f" ({', '.join(origin)})" if origin else ""
        out = hang_indent([f"{head} {safe(finding.message)}{end}"], width, hanging="    ")
    else:
        out = hang_indent([f"{head} {finding.rule.name}"], width, hanging="    ")
        out += hang_indent((f"  {text}" for text in (safe(finding.message), *origin)), width)
        number = str(finding.place.source.position(finding.place.span.start).line)
        room = _MAX_LINE if width is None else max(width, NARROWEST) - len(f"  {number} | ")
        found = None if is_running else excerpt(finding.place, min(_MAX_LINE, room))
        if found is not None:
            caret = f"{' ' * found.start}{paint('^' * found.width, 'red')}"
            out += [f"  {number} | {found.text}", f"  {' ' * len(number)} | {caret}"]
        out += hang_indent((f"  {location(label.place)}: {safe(label.text)}" for label in finding.related), width)
    if finding.hint:
        hint = f"  {paint('hint:', 'bold')} {safe(finding.hint)}"
        out += hang_indent([hint], width, hanging=" " * len("hint: "))
    if others and is_brief:
        named = [location(item.place) for item in others]
        shown = first_of(named, MOST_ALIKE - 1, lambda left: f"{left} more: -o concise lists them")
        out += hang_indent([f"  also {', '.join(shown)}"], width)
    elif others:
        places = len({item.place.source.name for item in (finding, *others)})
        named = [f"  {location(item.place)}: in {object_text(item.object)}" for item in others]
        where = count_noun(places, "workload" if is_running else "file")
        out.append(f"  {finding.rule.code} {len(others) + 1} times in {where}, also")
        shown = first_of(named, MOST_ALIKE - 1, lambda left: f"  and {left} more: -o concise lists them")
        out += hang_indent(shown, width)
    return out


def region(place: Place) -> tuple[int, int, int, int]:
    """Return line and column of a place, and those of its end, from 1; the end is after the last character."""
    source, span = place
    return (*source.position(span.start), *source.position(span.end))


def location(place: Place) -> str:
    """Return `file:line:column`, which terminals and editors make a link of."""
    line, column = place.source.position(place.span.start)
    return f"{safe(place.source.name)}:{line}:{column}"


def message(finding: Finding) -> str:
    """Return the message, the template and the hint of a finding, for formats that show nothing else."""
    parts = (finding.message, rendered_from(finding.place), f"hint: {finding.hint}" if finding.hint else "")
    return "\n".join(part for part in parts if part)


def rendered_from(place: Place) -> str:
    """Return `from shop/templates/web.yaml`; empty if the text was not rendered. The template's line is unknown."""
    return f"from {safe(place.template)}" if place.template else ""


def object_text(ref: ObjectKey) -> str:
    """Return `Deployment shop/web`, with the namespace only if the manifest sets it."""
    name = f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name
    return safe(f"{ref.kind} {name or '(without a name)'}")


class Excerpt(NamedTuple):
    """The line of a place, and the range of the marked characters."""

    number: int
    text: str
    start: int
    width: int


def excerpt(place: Place, most: int = _MAX_LINE) -> Optional[Excerpt]:
    """Return the line of a place, cut to `most` characters around the place; None if it is blank."""
    line, column = place.source.position(place.span.start)
    text = place.source.line(line)
    if not text.strip():
        return None
    width = max(1, min(place.span.end, place.span.start + len(text) - column + 1) - place.span.start)
    start = column - 1
    if len(text) > most:
        cut = max(0, start - most // 2)
        text, start = text[cut : cut + most], start - cut
        width = max(1, min(width, len(text) - start))
    printable = "".join(char if char.isprintable() else " " for char in text.rstrip())
    return Excerpt(line, printable, start, width)


_MOST_WHOLE = 4  # findings that are shown with their lines


class _Rank(IntEnum):
    """The order of blocks: what fails comes first."""

    STUCK = 0  # workloads with pods that stay Pending, and running workloads
    ERRORS = 1
    PLACED = 2  # workloads, if they are few
    FINDINGS = 3
    LAST = 4


def render(report: CheckReport) -> str:
    """Return blocks with an empty line between them: what fails first, and the worst finding first.

    Of many workloads, the healthy ones come last. Many findings are shown in brief.
    """
    is_running = report.running is not None
    order = list(Severity)
    found = sorted(report.findings, key=lambda item: order.index(item.rule.severity))
    groups = list(_grouped(found, 1 if is_running else MOST_ALIKE))
    is_brief = len(groups) > _MOST_WHOLE
    groups = list(_grouped(found, 1)) if is_brief else groups
    blocks: dict[_Rank, list[list[str]]] = {rank: [] for rank in _Rank}
    for finding, others in groups:
        own = blocks[_Rank.ERRORS if finding.rule.severity is Severity.ERROR else _Rank.FINDINGS]
        block = lines(finding, others, width=report.width, is_running=is_running, is_brief=is_brief)
        if is_brief and own:
            own[0] += block
        else:
            own.append(block)
    for rank, block in _blocks_beside_findings(report):
        blocks[rank].append(table.hang_indent(block, report.width))
    return "\n\n".join("\n".join(block) for of_rank in blocks.values() for block in of_rank)


def _grouped(findings: Sequence[Finding], most: int) -> Iterator[tuple[Finding, Sequence[Finding]]]:
    """Yield the findings, each with the other findings of its block: the same words about other objects."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    own = []
    for finding in findings:
        rule = finding.rule
        words = rule.code, rule.severity, finding.message, finding.place.template, finding.hint
        own.append(groups.setdefault(words, []))
        own[-1].append(finding)
    for finding, group in zip(findings, own, strict=True):
        if len(group) <= most:
            yield finding, ()
        elif finding is group[0]:
            yield finding, group[1:]


def _blocks_beside_findings(report: CheckReport) -> Iterator[tuple[_Rank, list[str]]]:
    """Yield the lines about placements with their rollouts, running workloads and unreadable resources.

    Of many workloads, the steps of rollouts are left out.
    """
    if report.placements or report.running is not None:
        from kubectl_spread.report.check import rollouts, workloads  # numpy: 80 ms

        explain = f"$ {safe(report.explain)}  # and what helps" if report.explain else ""
    if report.placements:
        is_few = len(report.placements) <= MOST_ALIKE
        stuck: list[tuple[Hashable, str, list[str]]] = []
        fine: list[str] = []
        completing = []
        every = zip(
            report.placements, _headlines(report), report.rollouts_of_placements, report.are_explained, strict=True
        )
        for placement, headline, result, is_explained in every:
            owner = placement.workload
            is_stuck = placement.is_stuck or (result is not None and result.is_stuck)
            block = workloads.lines(placement, headline, is_brief=not is_few)
            if result is not None and (is_few or is_stuck):
                block += rollouts.of_placement(result, block, has_way=is_few)
            reason = tuple(line.replace(owner.name, "") for line in block[1:])
            if is_explained and explain:
                block, explain = [*block, f"    {explain}"], ""
            if is_few:
                yield _Rank.STUCK if is_stuck else _Rank.PLACED, block
            elif is_stuck:
                stuck.append((reason, safe(owner.key), block))
            else:
                fine += block
                completing += [result] if result is not None else []
        for block in ([*together(stuck)], *rollouts.creations(report.rollouts)):
            yield from [(_Rank.STUCK, block)] if block else []
        more = first_of(fine, _MOST_LINES, lambda left: f"and {left} more lines like these: -o concise prints all")
        end = [*more, *rollouts.by_answer(completing)]
        yield from [(_Rank.LAST, end)] if end else []
    if report.running is not None and (any(report.running) or report.rollouts):
        hint = [f"  {explain}"] if explain else []
        yield _Rank.STUCK, [*workloads.running_lines(report.running), *hint, *rollouts.of_running(report.rollouts)]
    if report.unread:
        from kubectl_spread.report import documents  # json: 5 ms

        yield _Rank.LAST if report.running is None else _Rank.STUCK, [documents.line(report.unread)]


def _headlines(report: CheckReport) -> list[str]:
    """Return the headline of each placement. If several files have a workload, each of its headlines names its file."""
    from kubectl_spread.report.check.workloads import headline  # numpy: 80 ms

    keys = [placement.workload.key for placement in report.placements]
    files = ["" if place is None else place.source.name for place in report.origins] or [""] * len(keys)
    copies = Counter(key for key, _ in {*zip(keys, files, strict=True)})
    return [
        headline(placement, file if copies[placement.workload.key] > 1 else "")
        for placement, file in zip(report.placements, files, strict=True)
    ]


def render_concise(report: CheckReport) -> str:
    """Return `file:line:column: severity CODE message` lines, then a line for each workload that was placed."""
    lines = []
    for finding in report.findings:
        rule, origin = finding.rule, rendered_from(finding.place)
        text = f"{location(finding.place)}: {rule.severity.value} {rule.code} {safe(finding.message)}"
        lines.append(f"{text} ({origin})" if origin else text)
    lines += map(unpainted, _headlines(report)) if report.placements else ()
    lines += [f"{safe(report.explain)}  # what helps"] if report.explain else []
    for item in report.rollouts:
        from kubectl_spread.report.check import rollouts

        lines += [f"Rollout: {rollouts.sentence(item)}"] if item.is_stuck else []
    if report.unread:
        from kubectl_spread.report import documents

        lines.append(documents.line(report.unread))
    return "\n".join(lines)


_NAMED = 3  # files that a line names
_IN_TEMPLATES = "/templates/"
_OF_CHARTS = ("HelmRelease", "HelmChart", "HelmChartConfig", "Application", "ApplicationSet")


def coverage(
    results: Sequence[Result],
    kustomizations: Sequence[Kustomization],
    *,
    unjoined: Sequence[str],
    unused: Sequence[tuple[str, str]],
    command: Callable[..., str],
) -> tuple[str, ...]:
    """Return the lines about what was not checked, and how to check it; none if all was.

    `unused` are kinds of objects that were not used, each with the option that uses them; `command` returns a command
    of this program.
    """
    from kubectl_spread.lint.check_source import SkipReason

    skipped = grouped((reason, result) for result in results for reason in result.skipped)
    lines = [_templates(skipped.get(SkipReason.TEMPLATE, []), command), *_unknown_pods(results, command)]
    rendering = [item.directory for item in kustomizations if item.is_rendered]
    if rendering:
        many = count_noun(len(rendering), "kustomization")
        one = command("check", "-k", os.path.relpath(rendering[0]))
        lines.append(f"{many} {_was(rendering)} not rendered: {safe(one)}")
    if unjoined:
        many, names = count_noun(len(unjoined), "patched list"), comma_list(list(dict.fromkeys(unjoined)), most=_NAMED)
        lines.append(
            f"{many} of constraints {_was(unjoined)} not read on a workload, as none in this run fits: {names}"
        )
    for kind, option in unused if any(_LIST_OF_CONSTRAINTS in item.source.text for item in results) else ():
        held = [item for item in results if f"\nkind: {kind}\n" in f"\n{item.source.text}"]
        if held:
            lines.append(f"{count_noun(len(held), 'file')} with a {kind} {_was(held)} not used: {option}")
    lines += [
        f"{count_noun(len(found), noun)}{which} {_was(found)} not checked: "
        f"{comma_list([result.source.name for result in found], most=_NAMED)}"
        for reason, noun, which in (
            (SkipReason.SUITE, "helm-unittest suite", ""),
            (SkipReason.GENERATED, "generated file", ""),
            (SkipReason.FIXTURE, "test input", ""),
            (SkipReason.FACTS, "snapshot", " of a cluster"),
            (SkipReason.SNIPPET, "example", " with `...` or a name to fill in, which is not YAML,"),
            (SkipReason.TEXT, "file", " with a text that names constraints and is not YAML"),
            (SkipReason.NOT_YAML, "file", " that is not YAML and names no constraints"),
        )
        if (found := skipped.get(reason, []))
    ]
    lines = [line for line in lines if line]
    return (*lines[: _MOST_LINES - 1], *filter(None, ["; ".join(lines[_MOST_LINES - 1 :])]))


_MOST_LINES = 8


def _was(found: Sequence[object]) -> str:
    return "was" if len(found) == 1 else "were"


def _templates(found: list[Result], command: Callable[..., str]) -> str:
    """Return the line about templates: how many name constraints, and the command that renders the first chart."""
    if not found:
        return ""
    naming = [result.source.name.replace(os.sep, "/") for result in found if _LIST_OF_CONSTRAINTS in result.source.text]
    line = f"{count_noun(len(found), 'template')} {_was(found)} not rendered"
    if not naming:
        return f"{line}; none names a constraint"
    charts = list(dict.fromkeys(name.split(_IN_TEMPLATES)[0] for name in naming if _IN_TEMPLATES in name))
    verb = "names" if len(naming) == 1 else "name"
    line += (
        f", and {len(naming)} of them {verb} constraints" if len(naming) < len(found) else f" and {verb} constraints"
    )
    if not charts:
        return f"{line}: {comma_list(naming, most=_NAMED)}"
    more = f" (also {comma_list(charts[1:], most=_NAMED)})" if charts[1:] else ""
    return f"{line}: helm template {safe(charts[0])} | {command('check', '-')}{more}"


def _unknown_pods(results: Sequence[Result], command: Callable[..., str]) -> Iterator[str]:
    """Yield the lines about releases and custom resources, whose pods are not in the files."""
    lists = [item for result in results for item in result.lists]
    kinds = [item.manifest.kind for item in lists if not item.manifest.document.is_embedded and not item.found.is_patch]
    charts = Counter(kind for kind in kinds if kind in _OF_CHARTS)
    others = Counter(kind for kind in kinds if kind and kind not in (*_OF_CHARTS, *_WITHOUT_PODS))
    for found, how in (
        (charts, f"helm template ... | {command('check', '-')}"),
        (others, "kubectl spread check -n NAMESPACE checks the pods in the cluster"),
    ):
        if found:
            named = comma_list([f"{number} in {kind}" for kind, number in found.most_common()], most=_NAMED)
            many = count_noun(found.total(), "list")
            yield f"{many} of constraints, without the pods and their labels ({named}): {how}"


_WITHOUT_PODS = ("Kustomization", "Component", "ConfigMap", "ClusterPolicy", "Policy")
_LIST_OF_CONSTRAINTS = "opologySpreadConstraints"


def unapplied_kinds(kinds: tuple[str, ...]) -> tuple[str, ...]:
    """Return the line about kinds that decide about new pods, and that the cluster facts do not hold."""
    return (f"the cluster facts hold no {' and no '.join(kinds)} objects, so none is applied",) if kinds else ()


def claim_quotas(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the line about quotas that may refuse the claims of pods."""
    quotas = "quota" if len(names) == 1 else "quotas"
    text = f"{quotas} {', '.join(names)} {'limits' if len(names) == 1 else 'limit'} claims, which are not counted"
    return (f"{text}: the API server may refuse some of them",) if names else ()
