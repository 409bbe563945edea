"""Checks of manifests: reading, placing their workloads if cluster facts are given, and running the rules.

```
CheckRequest ─▶ settings ─▶ read ─▶ (cluster facts ─▶ placements) ─▶ judge ─▶ baseline ─▶ CheckResult
```

`prepare` stops before the rules run, so that `operations.fix` can apply fixes before the result.
"""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.containers import grouped
from kubectl_spread.errors import RequestError, SourceError, SpreadError
from kubectl_spread.objects.reading.plain import fields, Plain
from kubectl_spread.operations import cluster_facts, rule_choice
from kubectl_spread.operations.cluster_facts import ClusterSource, LoadedCluster
from kubectl_spread.operations.rule_choice import RuleChoice
from kubectl_spread.operations.selection import Selection
from kubectl_spread.text.wording import count_noun

if TYPE_CHECKING:  # imported where they are used, so that --help and usage errors stay fast
    from kubectl_spread.explain.placement import Placement
    from kubectl_spread.lint.check_source import Result
    from kubectl_spread.lint.finding import Finding
    from kubectl_spread.lint.pipeline import SelectedFindings
    from kubectl_spread.lint.roots import RootRules
    from kubectl_spread.lint.selection import Config, LintPolicy
    from kubectl_spread.operations.known_cluster import KnownCluster
    from kubectl_spread.operations.rollouts import Rollouts
    from kubectl_spread.report.check.baseline import Baseline
    from kubectl_spread.report.check.report import CheckReport
    from kubectl_spread.sources.files import Exclusion
    from kubectl_spread.sources.live.reading import Session
    from kubectl_spread.text.source import SourceFile


class CheckRequest(NamedTuple):
    """The manifests, or the running workloads, to check, with the cluster facts and the rules.

    Attributes:
        paths: files and directories; `-` is standard input. If empty, the paths of the configuration.
        recursive: also read the subdirectories of `paths`.
        kustomize: directories that kustomize renders.
        source: the cluster facts to place replicas on, or to read running workloads from.
        namespace: of objects that name none, or of the running workloads. None for the context's; empty for all.
        choice: rules and their settings.
        config: the configuration, if it was loaded already.
        allow_remote: kustomize may download.
        selection: the running workloads, in `namespace`.
        known: the cluster of the running workloads, if it was read already.
    """

    paths: tuple[str, ...] = ()
    recursive: bool = False
    kustomize: tuple[str, ...] = ()
    source: ClusterSource = ClusterSource()
    namespace: Optional[str] = None
    choice: RuleChoice = RuleChoice()
    config: Optional[Config] = None
    allow_remote: bool = False
    selection: Selection = Selection()
    known: Optional[LoadedCluster] = None


class InputPaths(NamedTuple):
    """The files and directories to read; `is_whole` if they are all that the project has.

    `inside` is the root of the configuration, if it names the paths.
    """

    paths: tuple[str, ...]
    recursive: bool
    exclusion: Exclusion
    is_whole: bool
    inside: Optional[str] = None


class CheckSettings(NamedTuple):
    """The combined settings of the request and the configuration."""

    choice: RuleChoice
    config: Config
    source: ClusterSource
    policy: LintPolicy
    namespace: str

    def read(self, source: SourceFile, *, named: bool = False) -> Result:
        """Return the objects of one file, and the API server's errors about them."""
        from kubectl_spread.lint import pipeline

        return pipeline.read(source, self.policy, self.config, named=named, namespace=self.namespace)


class CheckRun(NamedTuple):
    """The inputs of a check, and then their placements and the facts for the rules.

    Attributes:
        settings: of the request and the configuration.
        results: one for each input that was read.
        unread: one for each input that could not be read.
        files: the number of inputs.
        seen: names of the inputs that the rules see completely.
        is_whole: these are all files of the project, and the rules see all of them.
        rules: the root of each file, which decides which files belong together.
        fixed: the number of findings that were fixed.
        known: the cluster facts.
        placements: of the workloads.
        rollouts: of the workloads, and then of each further copy of some of them.
        facts: what the rules know about the cluster: the cluster facts, or else the domains in the configuration.
    """

    settings: CheckSettings
    results: list[Result]
    unread: list[SourceError]
    files: int
    seen: Sequence[str] = ()
    is_whole: bool = False
    rules: Optional[RootRules] = None
    fixed: int = 0
    known: Optional[LoadedCluster] = None
    placements: list[Placement] = []  # noqa: RUF012 (never changed)
    rollouts: Sequence[Rollouts] = ()
    facts: Optional[KnownCluster] = None

    @property
    def errors(self) -> list[SourceError]:
        """Return the inputs and cluster facts that could not be read."""
        return [*self.unread, *(self.known.errors if self.known is not None else ())]

    def judge(self, results: Sequence[Result]) -> SelectedFindings:
        """Return the findings of these inputs as they are, or as a fix changes them."""
        from kubectl_spread.lint import pipeline

        return pipeline.findings_of(
            results,
            self.settings.policy,
            self.settings.config,
            facts=self.facts,
            namespace=self.settings.namespace,
            has_ignores=not self.settings.choice.no_ignores,
            is_whole=self.is_whole,
            rules=self.rules,
        )


class CheckResult(NamedTuple):
    """The result of checking manifests or running workloads.

    Attributes:
        report: the findings, the placements, and what could not be read.
        run: the inputs with their settings; it also judges changed inputs, to count fixes.
        notes: sentences for people.
        missing: requested objects that do not exist.
        selection: the running workloads; None for manifests.
    """

    report: CheckReport
    run: CheckRun
    notes: tuple[str, ...]
    missing: tuple[SpreadError, ...] = ()
    selection: Optional[Selection] = None


def check_files(request: CheckRequest) -> CheckResult:
    """Check manifests; with cluster facts, also place every replica.

    Raises:
        RequestError: the request contradicts itself, or names nothing to check.
        ConfigError: the configuration is invalid.
        SourceError: no input can be read.
        ClusterError: the live cluster cannot be read.
    """
    return result_of(prepare(request))


def prepare(request: CheckRequest) -> CheckRun:
    """Read the manifests and the cluster facts, and place the workloads.

    Raises:
        SpreadError: as `check_files` does.
    """
    choice = request.choice
    config = rule_choice.load_config(choice) if request.config is None else request.config
    given = input_paths(request, config)
    session = cluster_facts.open_session(request.source)
    known = in_files(request.source, config) if session is None else None
    asked = settings(request, config, session=session, known=known)
    run = read_files(request, given, asked)
    if session is not None:
        from kubectl_spread.sources.live.resources import Question

        texts = tuple(result.source.text for result in run.results)
        known = cluster_facts.load(asked.source, session, Question(asked.namespace, texts=texts, has_new_nodes=True))
    if known is not None:
        from kubectl_spread.sources.manifest_objects import too_large

        run.unread.extend(error for result in run.results for error in too_large(result.workloads))
        known = cluster_facts.with_manifests(known, [result.source for result in run.results], asked.namespace)
    elif not config.domains:
        from kubectl_spread.lint.registry import RULES
        from kubectl_spread.lint.selection import named_codes

        selected = (part.strip() for text in (*choice.select, *choice.extend_select) for part in text.split(","))
        words = [word for word in selected if word and all(RULES[code].needs_facts for code in named_codes([word]))]
        if words:
            verb = "needs" if len(words) == 1 else "need"
            asked.source.warn(f"{', '.join(words)} {verb} cluster facts (--live, --snapshot or --topology); not run")
    return with_cluster(run, known)


def with_cluster(run: CheckRun, known: Optional[LoadedCluster], rollouts: Sequence[Rollouts] = ()) -> CheckRun:
    """Place the workloads of files that were read; `rollouts` are of running workloads, not of files."""
    are_running = bool(rollouts)
    every = [checked for result in run.results for checked in result.workloads]
    specs = grouped((checked.workload.key, fields(checked.manifest.plain, "spec")) for checked in every)
    rounds = [] if known is None else _placements(run, known, {} if are_running else specs)
    if known is not None and not are_running:
        from kubectl_spread.cluster.snapshot import Controller
        from kubectl_spread.operations.rollouts import ManifestRollouts, ManifestWorkload

        of_manifests: list[ManifestRollouts] = []
        for at, placed in enumerate(rounds):
            workloads = [
                ManifestWorkload(Controller(first.workload, spec=specs[key][: at + 1][-1]), first)
                for key, (first, *_) in grouped((item.workload.key, item) for item in placed).items()
                if key in specs
            ]
            budget = of_manifests[0].budget if of_manifests else None
            of_manifests.append(ManifestRollouts(workloads, known.cluster, known.profiles, budget))
            rounds[at] = of_manifests[-1].in_any_order(placed)
        rollouts = of_manifests
    copies = grouped((item.workload.key, item) for one in rounds for item in one)  # in the order of the first ones
    placements = list(itertools.chain(*copies.values()))
    run = run._replace(known=known, placements=placements, rollouts=rollouts)
    config, namespace = run.settings.config, run.settings.namespace
    if known is None and not config.domains:
        return run
    from kubectl_spread.operations.known_cluster import KnownCluster  # numpy: 80 ms
    from kubectl_spread.sources import policy_file, topology
    from kubectl_spread.sources.config import at_setting

    if known is None:
        profiles = cluster_facts.load_profiles(run.settings.source)
        keys = frozenset(config.domains)
        return run._replace(
            facts=KnownCluster(topology.from_domains(config.domains), profiles, namespace=namespace, keys=keys)
        )
    policies = []
    for at, path in enumerate(config.policies):
        try:
            policies.append(policy_file.load(os.path.join(config.root, path), inside=config.root))
        except SourceError as error:
            raise at_setting(error, config, ("policies", at)) from None
    facts = KnownCluster(
        known.cluster,
        known.profiles,
        placements=placements,
        rollouts=next(iter(rollouts), None),
        namespace=namespace,
        policies=policies,
        specs={key: first for key, (first, *_) in specs.items()},
        are_running=are_running,
    )
    return run._replace(facts=facts)


def report_of(run: CheckRun) -> tuple[CheckReport, SelectedFindings, tuple[str, ...]]:
    """Run the rules on the inputs, and leave out the findings in the baseline; also return notes about the baseline.

    Raises:
        SourceError: the baseline cannot be read or written.
    """
    from kubectl_spread.report.check.report import CheckReport

    judged = run.judge(run.results)
    findings, baselined, notes = _new_findings(judged.findings, run)
    report = CheckReport(
        findings,
        [],
        run.errors,
        _counts(run, judged, baselined=baselined),
        tuple(result.source.name for result in run.results),
        rollouts=tuple(item._replace(copy=at) for at, each in enumerate(run.rollouts) for item in each.results()),
        unread=run.known.cluster.unread if run.known is not None else (),
    )
    return report, judged, notes


def result_of(run: CheckRun) -> CheckResult:
    """Return the report on manifests, with notes about what was not checked or used.

    Raises:
        SourceError: the baseline cannot be read or written.
    """
    from kubectl_spread.report.check import text

    known, settings = run.known, run.settings
    report, judged, notes = report_of(run)
    # The kinds that the API server applies to new pods, and that an older snapshot does not hold
    complete = known.cluster.complete if known is not None else frozenset[str]()
    is_created = any(not pod.ran_already for placement in run.placements for pod in placement.placed)
    is_snapshot = bool(complete) and is_created
    not_applied = tuple(kind for kind in ("LimitRange", "ResourceQuota") if is_snapshot and kind not in complete)
    # The object that each placement is of; copies, in several files, are placed in the order of the files.
    accepted = (subject for result in run.results for subject in result.subjects if not subject.refusals)
    left = {key: iter(subjects) for key, subjects in grouped((item.workload.key, item) for item in accepted).items()}
    origins = [next(left.get(item.workload.key, iter(())), None) for item in run.placements]
    report = report._replace(placements=run.placements)
    first, explain = next(itertools.compress(origins, report.are_explained), None), ""
    if first is not None:
        name = first.manifest.document.source.name
        piped, file = ("... | ", "-") if name == "<stdin>" else ("", name)
        where = () if first.manifest.namespace else ("-n", settings.namespace)
        explain = piped + settings.source.command("explain", "-k" if os.path.isdir(name) else "-f", file, *where)
    report = report._replace(
        not_applied=not_applied,
        unchecked=judged.unchecked,
        explain=explain,
        origins=[None if item is None else item.place(()) for item in origins],
    )
    rendered = () if run.rules is None else tuple(run.rules.kustomizations.values())
    unused = [] if "SPR705" in settings.policy.possible else [("DeschedulerPolicy", "--extend-select SPR705")]
    if known is not None and not settings.source.scheduler_config:
        unused.append(("KubeSchedulerConfiguration", "--scheduler-config FILE"))
    notes += text.coverage(
        run.results, rendered, unjoined=judged.unjoined, unused=unused, command=settings.source.command
    )
    notes += text.unapplied_kinds(not_applied)
    if known is not None:
        from kubectl_spread.objects import admission

        notes += cluster_facts.unknown_namespaces((item.workload.namespace for item in run.placements), known.cluster)
        making = {item.workload.namespace for item in run.placements if item.workload.claim_templates}
        quotas = (item for item in known.cluster.quotas if item.namespace in making and admission.limits_claims(item))
        notes += text.claim_quotas(tuple(f"{item.namespace}/{item.name}" for item in quotas))
    return CheckResult(report, run, notes)


def input_paths(request: CheckRequest, config: Config) -> InputPaths:
    """Return the paths to read: from the request, or from the configuration.

    Raises:
        RequestError: no paths are named, or the options contradict each other.
    """
    from kubectl_spread.sources.files import Exclusion, outside
    from kubectl_spread.text.glob import Globs

    choice, paths = request.choice, request.paths
    is_named = bool(paths or request.kustomize)
    if is_named and choice.project:
        raise RequestError("--project takes no files: it checks the paths of the configuration")
    if not is_named and not choice.project and not config.paths:
        raise RequestError(
            "name a file or directory to check, or - for standard input; or put `paths` in .kubectl-spread.yaml; "
            "or name a cluster whose workloads to check, with --kubeconfig or --snapshot"
        )
    if paths.count("-") > 1:
        raise RequestError("standard input cannot be read twice")
    globs = (Globs(config.root, config.exclude), Globs(os.getcwd(), choice.exclude))
    project = tuple(os.path.relpath(os.path.join(config.root, path)) for path in config.paths or (".",))
    exclusion = Exclusion(globs, choice.force_exclude)
    if not is_named:
        return InputPaths(project, True, exclusion, is_whole=True, inside=config.root if config.paths else None)
    below = (any(outside(item, path) is None for path in paths) for item in project)
    return InputPaths(paths, request.recursive, exclusion, is_whole=request.recursive and all(below))


def in_files(source: ClusterSource, config: Config) -> Optional[LoadedCluster]:
    """Return the cluster of a snapshot or topology; None if the source names none."""
    version = source.kubernetes_version or config.kubernetes_version or None
    return cluster_facts.load_files(source._replace(kubernetes_version=version)) if source.has_facts else None


def settings(
    request: CheckRequest, config: Config, *, session: Optional[Session] = None, known: Optional[LoadedCluster] = None
) -> CheckSettings:
    """Return the settings of a request. Fill gaps from the configuration, then from the cluster.

    Raises:
        RequestError: settings contradict each other, or name no rule.
        ClusterError: the live cluster does not report its version.
    """
    choice, source, namespace = request.choice, request.source, request.namespace
    version = source.kubernetes_version or config.kubernetes_version or None
    own = known.version if known is not None and version is None else ""
    minor = cluster_facts.minor_of(source._replace(kubernetes_version=source.kubernetes_version or own or None))
    if session is not None:
        namespace = namespace or session.target.namespace
        if version is None:
            minor = session.version.release.minor
    rules = rule_choice.policy(choice, config, minor=minor)
    if (choice.select or choice.extend_select) and not rules.possible:
        source.warn("no rule is selected: --ignore leaves out everything that is selected")
    return CheckSettings(choice, config, source._replace(kubernetes_version=version), rules, namespace or "default")


def read_files(request: CheckRequest, given: InputPaths, asked: CheckSettings) -> CheckRun:
    """Read every input, and check each by itself.

    Raises:
        SourceError: there is nothing to check.
    """
    from kubectl_spread.lint.check_source import Result, SkipReason
    from kubectl_spread.lint.pipeline import is_seen
    from kubectl_spread.sources import kustomize
    from kubectl_spread.sources.files import inputs
    from kubectl_spread.text.source import SourceFile

    def skipped(source: SourceFile, reason: SkipReason) -> Result:
        return Result(source, (), skipped=frozenset({reason}))

    results: list[Result] = []
    errors: list[SourceError] = []
    texts: set[str] = set()  # names of inputs that are not files
    named = inputs(given.paths, recursive=given.recursive, exclusion=given.exclusion, inside=given.inside)
    rendered = kustomize.render_directories(request.kustomize, allow_remote=request.allow_remote)
    for item in itertools.chain(named, rendered):
        if isinstance(item, SourceError) and item.is_aside:
            results.append(skipped(SourceFile(item.source, ""), SkipReason.NOT_YAML))
        elif isinstance(item, SourceError):
            if given.inside is not None and item.source in given.paths:
                from kubectl_spread.sources.config import at_setting

                item = at_setting(item, asked.config, ("paths", given.paths.index(item.source)))  # noqa: PLW2901
            errors.append(item)
        elif not item.is_file and not item.source.text.strip():  # the program before the pipe failed
            errors.append(SourceError(item.source.name, "the file is empty"))
        elif item.is_fixture:
            results.append(skipped(item.source, SkipReason.FIXTURE))
        else:
            results.append(asked.read(item.source, named=item.named))
            texts.update(() if item.is_file else (item.source.name,))
    if not results and not errors and not given.exclusion.is_forced:
        raise SourceError(", ".join((*given.paths, *request.kustomize)), "no .yaml, .yml or .json file in it")
    files = len(results) + len(errors)
    bundles = set(map(id, _bundles(results)))
    results = [skipped(item.source, SkipReason.GENERATED) if id(item) in bundles else item for item in results]
    seen = [result.source.name for result in results if is_seen(result)]
    rules = root_rules_of(given, asked.config, [item.source for item in results], texts=texts)
    return CheckRun(asked, results, errors, files, seen, given.is_whole and len(seen) == files, rules)


_OF_BUNDLES = ("install", "bundle", "release", "all", "all-in-one", "components")


def _bundles(results: Sequence[Result]) -> Iterator[Result]:
    """Yield the files with the name of a bundle whose workloads, two or more, are all in other files as well."""
    keys = [frozenset(subject.key for subject in result.subjects if subject.workload.name) for result in results]
    held = Counter(key for item in keys for key in item)
    for result, own in zip(results, keys, strict=True):
        name = os.path.splitext(os.path.basename(result.source.name))[0]
        if name in _OF_BUNDLES and len(own) > 1 and all(held[key] > 1 for key in own):
            yield result


def root_rules_of(given: InputPaths, config: Config, sources: list[SourceFile], *, texts: Iterable[str]) -> RootRules:
    """Return which files belong together; `texts` are the names of sources that are not files."""
    from kubectl_spread.sources.kustomize import root_rules

    named = [path for path in given.paths if path != "-" and os.path.isdir(path)]
    return root_rules(sources, config, directories=named, texts=texts)


def _placements(run: CheckRun, known: LoadedCluster, specs: Mapping[str, list[Plain]]) -> list[list[Placement]]:
    """Place the workloads' pods. Copies of an object are for different clusters: each is in another list.

    A workload is left out if the API server refuses all its `specs`, as they change immutable fields.
    """
    from kubectl_spread.kubectl.situation import refused_changes
    from kubectl_spread.lint.pipeline import workloads

    release = next(iter(known.profiles.values())).release

    owners = workloads(run.results, run.settings.namespace, run.rules)
    refused = {
        key
        for key, owner in {item.key: item for item in owners}.items()
        if key in specs and all(refused_changes(known.cluster, owner, spec, release) for spec in specs[key])
    }
    accepted = cluster_facts.of_one_cluster(item for item in owners if item.key not in refused)
    return [cluster_facts.place(together, known, evicts=True) for together in accepted]


def _counts(run: CheckRun, judged: SelectedFindings, *, baselined: int) -> dict[str, int]:
    """Return the numbers of checked objects and of findings that are not reported; `baselined` are in the baseline.

    `workloads` counts workloads that the API server accepts, and `rejected` the others. `placeholders` counts workloads
    with values that another tool fills in, `lists` constraints outside pod templates, and `templates` files that are
    not YAML until they are rendered. The last three are left out if they are 0.
    """
    from kubectl_spread.lint.check_source import SkipReason

    nested = (subject for result in run.results for world in result.worlds for subject in world.subjects)
    rare = {
        "lists": sum(len(result.lists) for result in run.results)
        + sum(bool(subject.constraints) for subject in nested),
        "templates": sum(SkipReason.TEMPLATE in result.skipped for result in run.results),
        "placeholders": sum(result.placeholders for result in run.results),
    }
    return {
        "files": run.files,
        "workloads": len(judged.workloads),
        "rejected": sum(result.rejected for result in run.results),
        "ignored": judged.ignored,
        "baselined": baselined,
        "fixed": run.fixed,
        **{name: count for name, count in rare.items() if count},
    }


def _new_findings(findings: list[Finding], run: CheckRun) -> tuple[list[Finding], int, tuple[str, ...]]:
    """Return the findings outside the baseline, the number of those in it, and notes about it.

    After the baseline is written, only findings that it cannot hold are left.

    Raises:
        SourceError: the baseline cannot be read or written.
    """
    settings = run.settings
    path = settings.choice.write_baseline
    if path:
        from kubectl_spread.report.check import baseline  # loads json
        from kubectl_spread.sources.files import read_text, write

        before = baseline_in(read_text(path)) if os.path.isfile(path) and os.path.getsize(path) else None
        text = baseline.render(findings, path, before=before, files=run.seen, is_whole=run.is_whole)
        write(path, text.encode())
        left = [finding for finding in findings if finding.is_unreadable]
        return left, len(findings) - len(left), ()
    known = read_baseline(settings)
    if known is None:
        return findings, 0, ()
    from kubectl_spread.report.check import baseline

    compared = baseline.compare(findings, known, files=run.seen, is_whole=run.is_whole)
    notes: tuple[str, ...] = ()
    if compared.gone:
        path, them = _baseline_path(settings), "it" if compared.gone == 1 else "them"
        count = count_noun(compared.gone, "finding")
        notes = (f"{count} of {path} no longer there: --write-baseline {path} leaves {them} out",)
    return compared.findings, compared.known, notes


def read_baseline(settings: CheckSettings) -> Optional[Baseline]:
    """Return the accepted findings; None if no baseline is used, or if it will be written.

    Raises:
        SourceError: the baseline cannot be read; if the configuration names it, at that line.
    """
    from kubectl_spread.sources.files import read_text

    path, is_named = _baseline_path(settings), bool(settings.choice.baseline)
    if not path or settings.choice.no_ignores or settings.choice.write_baseline:
        return None
    try:
        return baseline_in(read_text(path, inside=None if is_named else settings.config.root))
    except SourceError as error:
        from kubectl_spread.sources.config import at_setting

        raise (error if is_named else at_setting(error, settings.config, ("baseline",))) from None


def _baseline_path(settings: CheckSettings) -> str:
    """Return the baseline that is named, relative to the working directory; empty if none is."""
    config = settings.config
    if settings.choice.baseline or not config.baseline:
        return settings.choice.baseline or ""
    return os.path.relpath(os.path.join(config.root, config.baseline))


def baseline_in(source: SourceFile) -> Baseline:
    """Return the baseline in a file.

    Raises:
        SourceError: the file is not a baseline; with the place of the first error.
    """
    from kubectl_spread.report.check import baseline
    from kubectl_spread.sources.single_document import Document

    found = baseline.read(source)
    if found is not None:
        return found
    what = "not a baseline; check --write-baseline FILE writes one"
    for error in Document(source, "baseline").errors:
        raise SourceError(source.name, f"{error.message}: {what}", line=error.line, column=error.column)
    raise SourceError(source.name, what)
