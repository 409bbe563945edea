"""The stages of `check`: its inputs are read, the workloads in them placed, and what was found is judged."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple
from typing import Optional
from typing import TYPE_CHECKING

from kubectl_spread.cli import fix_options
from kubectl_spread.cli.options import FactOptions
from kubectl_spread.cli.options import Facts
from kubectl_spread.cli.options import load_profiles
from kubectl_spread.cli.options import minor_version
from kubectl_spread.cli.options import place
from kubectl_spread.cli.options import with_manifests
from kubectl_spread.cli.rule_options import accepted
from kubectl_spread.cli.rule_options import ChoiceOptions
from kubectl_spread.cli.rule_options import Inputs
from kubectl_spread.cli.rule_options import policy
from kubectl_spread.cli.rule_options import read as read_inputs
from kubectl_spread.errors import SourceError

if TYPE_CHECKING:  # imported where they are used, so that --help and usage errors stay fast
    from kubectl_spread.lint.apply_fixes import Mended
    from kubectl_spread.lint.check_source import Result
    from kubectl_spread.lint.facts import ClusterFacts
    from kubectl_spread.lint.pipeline import Judged
    from kubectl_spread.lint.roots import RootRules
    from kubectl_spread.lint.selection.policy import Config
    from kubectl_spread.lint.selection.policy import Policy
    from kubectl_spread.objects.workload import Workload
    from kubectl_spread.simulate.placement import Placement
    from kubectl_spread.sources.live.reading import Session
    from kubectl_spread.sources.live.resources import Question
    from kubectl_spread.text.source import SourceFile

    Judge = Callable[[Sequence[Result]], Judged]


class Asked(NamedTuple):
    """What the command line and the config ask of a run."""

    choices: ChoiceOptions
    config: Config
    facts: FactOptions
    policy: Policy
    namespace: str

    def check(self, source: SourceFile, *, named: bool = False) -> Result:
        """What one source holds, and what the API server says of it."""
        from kubectl_spread.lint import pipeline

        return pipeline.read(source, self.policy, self.config, named=named, namespace=self.namespace)


class Read(NamedTuple):
    """The inputs: `seen` names those with nothing in them hidden from the rules.

    `is_whole`: these are all that the project has, and all were seen.
    """

    results: list[Result]
    errors: list[SourceError]
    files: int
    seen: list[str]
    is_whole: bool
    fixed: int = 0  # findings that are no longer there
    rules: Optional[RootRules] = None

    @property
    def rejected(self) -> int:
        """The workloads that the API server would not take."""
        return sum(result.rejected for result in self.results)


def asked(
    choices: ChoiceOptions,
    config: Config,
    *,
    facts: FactOptions,
    namespace: Optional[str],
    session: Optional[Session] = None,
) -> Asked:
    """What is asked for by flags, by the config where they say nothing, and else by the live cluster.

    Raises:
        click.UsageError: they contradict each other, or name no rule.
        ClusterError: the live cluster does not tell its version.
    """
    version = facts.kubernetes_version or config.kubernetes_version or None
    minor = minor_version(facts)
    if session is not None:
        namespace = namespace or session.target.namespace
        if version is None:
            minor = session.version.minor
    rules = policy(choices, config, minor=minor)
    return Asked(choices, config, facts._replace(kubernetes_version=version), rules, namespace or "default")


def question(read: Read, asked: Asked) -> Question:
    """What a live cluster must know for what was read."""
    from kubectl_spread.sources.live.resources import Question

    return Question(asked.namespace, texts=tuple(result.source.text for result in read.results))


def read(given: Inputs, asked: Asked) -> Read:
    """Read every input, and check what each holds by itself.

    Raises:
        SourceError: there is nothing to check.
    """
    from kubectl_spread.lint.pipeline import is_seen

    results: list[Result] = []
    errors: list[SourceError] = []
    texts: set[str] = set()  # the names of what is no file
    for item in read_inputs(given):
        if isinstance(item, SourceError):
            errors.append(item)
        elif item.named and not item.source.text.strip():
            errors.append(SourceError(item.source.name, "the file is empty"))
        else:
            results.append(asked.check(item.source, named=item.named))
            texts.update(() if item.is_file else (item.source.name,))
    if not results and not errors and not given.exclusion.is_forced:
        raise SourceError(", ".join((*given.paths, *given.kustomized)), "no .yaml, .yml or .json file in it")
    files = len(results) + len(errors)
    seen = [result.source.name for result in results if is_seen(result)]
    rules = rules_of(given, asked.config, [item.source for item in results], texts=texts)
    return Read(results, errors, files, seen, given.is_whole and len(seen) == files, rules=rules)


def rules_of(given: Inputs, config: Config, sources: list[SourceFile], *, texts: Iterable[str]) -> RootRules:
    """Return what is known about roots; `texts` are the names of sources that are no files."""
    from kubectl_spread.sources.roots import root_rules

    named = [path for path in given.paths if path != "-" and os.path.isdir(path)]
    return root_rules(sources, config, directories=named, texts=texts)


def beside(known: Optional[Facts], read: Read, *, namespace: str) -> Optional[Facts]:
    """The cluster facts with what stands beside the workloads, and with what could not be read of it."""
    if known is None:
        return None
    return with_manifests(known, [result.source for result in read.results], namespace)


def placed(read: Read, known: Optional[Facts], *, namespace: str) -> list[Placement]:
    """Where the workloads' pods would go; nothing where no cluster is known."""
    if known is None:
        return []
    from kubectl_spread.lint.pipeline import workloads

    owners = workloads(read.results, namespace, read.rules)
    rounds = _without_copies(owners)
    if len(rounds) < 2:
        return place(owners, known, evicts=True) if owners else []
    found = [placement for together in rounds for placement in place(together, known, evicts=True)]
    order = {owner.key: number for number, owner in reversed(list(enumerate(owners)))}
    return sorted(found, key=lambda placement: order.get(placement.workload.key, len(order)))


def _without_copies(owners: Sequence[Workload]) -> list[list[Workload]]:
    """The workloads that one cluster can have together: a copy of one is for another cluster."""
    seen: Counter[str] = Counter()
    rounds: dict[int, list[Workload]] = {}
    for owner in owners:
        rounds.setdefault(seen[owner.key] if owner.name else 0, []).append(owner)
        seen[owner.key] += 1
    return list(rounds.values())


def judge(read: Read, asked: Asked, *, known: Optional[Facts], placements: list[Placement]) -> Judge:
    """What says which findings there are in results, and which of them somebody wants to hear of."""
    from kubectl_spread.lint import pipeline as judges

    return partial(
        judges.judged,
        policy=asked.policy,
        facts=_cluster_facts(asked, known, placements=placements),
        namespace=asked.namespace,
        accepted=accepted(asked.choices, asked.config, is_whole=read.is_whole),
        rules=read.rules,
    )


def written(read: Read, outcome: Mended, asked: Asked) -> Read:
    """Write the mended texts, and go on with what is on disk then: with the old text where it cannot be written."""
    errors = fix_options.write(read.results, outcome.results)
    results = [
        _on_disk(old, asked) if os.path.realpath(old.source.name) in errors else new
        for old, new in zip(read.results, outcome.results, strict=True)
    ]
    fixed = sum(os.path.realpath(finding.place.source.name) not in errors for finding in outcome.fixed)
    return read._replace(results=results, errors=[*read.errors, *errors.values()], fixed=fixed)


def _on_disk(old: Result, asked: Asked) -> Result:
    """What a file holds now; what it held, where it cannot be read any more."""
    from kubectl_spread.sources.files import read_text

    if not os.path.isfile(old.source.name):
        return old  # a pipe gives its text once
    try:
        source = read_text(old.source.name)
    except SourceError:
        return old
    return old if source.text == old.source.text else asked.check(source)


def _cluster_facts(asked: Asked, known: Optional[Facts], *, placements: list[Placement]) -> Optional[ClusterFacts]:
    """What the rules may ask about the cluster: of the facts, else of the domains in the config."""
    domains = asked.config.domains
    if known is None and not domains:
        return None
    from kubectl_spread.simulate.cluster_facts import KnownCluster  # numpy: 80 ms

    if known is not None:
        return KnownCluster(known.cluster, known.profiles, placements=placements, namespace=asked.namespace)
    from kubectl_spread.sources import topology

    profiles = load_profiles(asked.facts)
    return KnownCluster(topology.from_domains(domains), profiles, namespace=asked.namespace, keys=frozenset(domains))
