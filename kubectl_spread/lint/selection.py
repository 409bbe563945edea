"""The selected rules, severities and versions: by profile, config, entries for some files, and command line.

```
profile ─▶ config ─▶ perFile, entry by entry ─▶ command line          of one source: Settings
```

Each `RuleSelection` builds on the one before: `select` starts over, `extend` adds, `ignore` removes. Within one, the
longer word wins.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple, Optional, TYPE_CHECKING, TypeVar

from kubectl_spread.lint.finding import Finding, Severity
from kubectl_spread.lint.project import TargetCluster
from kubectl_spread.lint.registry import RULES
from kubectl_spread.objects.workloads.kinds import PodSpecPath
from kubectl_spread.text.glob import Globs
from kubectl_spread.text.source import Place, SourceFile

if TYPE_CHECKING:
    from kubectl_spread.lint.suppress import Waiver


_Value = TypeVar("_Value")


class RuleProfile(Enum):
    """The rules to begin with."""

    MINIMAL = "minimal"  # the default rules with severity error
    DEFAULT = "default"  # all rules that are not opinions
    STRICT = "strict"  # all

    @property
    def codes(self) -> frozenset[str]:
        if self is RuleProfile.STRICT:
            return frozenset(RULES)
        is_minimal = self is RuleProfile.MINIMAL
        return frozenset(
            code
            for code, rule in RULES.items()
            if not rule.is_opinion and (rule.severity is Severity.ERROR or not is_minimal)
        )

    def codes_for(self, autoscaler: str) -> frozenset[str]:
        """Return the profile's codes for a cluster with this autoscaler; empty if it is unknown.

        Unless the profile is minimal, opinions about the autoscaler are included. Opinions about others are not.
        """
        if self is RuleProfile.MINIMAL or not autoscaler:
            return self.codes
        general = frozenset(code for code in self.codes if not RULES[code].autoscalers)
        return general | {code for code, rule in RULES.items() if autoscaler in rule.autoscalers}


class UnknownRuleError(Exception):
    """A word that names no rule."""

    def __init__(self, word: str) -> None:
        super().__init__(word)
        self.word = word

    def __str__(self) -> str:
        from kubectl_spread.text.wording import did_you_mean, short

        # Another number is another rule, not a misspelling.
        codes = () if self.word[3:].isdecimal() else tuple(RULES)
        near = did_you_mean(self.word, (*codes, *(rule.name for rule in RULES.values())))
        return f"no rule is called `{short(self.word)}`" + (f": {near}" if near else "")


def selected_codes(
    select: Iterable[str],
    ignore: Iterable[str],
    extend: Iterable[str] = (),
    *,
    base: Optional[frozenset[str]] = None,
) -> frozenset[str]:
    """Return the codes of the rules to run: the selected ones, or the base, without the ignored ones.

    If two words name a rule, the longer one counts: `--ignore SPR2 --select SPR201` runs SPR201.

    Args: select: codes, prefixes or names, several in one by commas; `ALL` is every rule. ignore: the same. extend: the
        same, for rules to run in addition. base: codes; without it, all rules that are not opinions.

    Raises:
        UnknownRuleError: a word names no rule.
    """
    wanted, unwanted, more = _weights(select), _weights(ignore), _weights(extend)
    if not wanted:
        wanted = dict.fromkeys(RuleProfile.DEFAULT.codes if base is None else base, 0)
    wanted = {code: max(wanted.get(code, -1), more.get(code, -1)) for code in (*wanted, *more)}
    return frozenset(code for code, weight in wanted.items() if weight > unwanted.get(code, -1))


def by_code(choices: Iterable[tuple[str, _Value]]) -> dict[str, _Value]:
    """Return values by code; the longest word that names a rule wins, then the last one.

    Raises:
        UnknownRuleError: a word names no rule.
    """
    found: dict[str, tuple[int, _Value]] = {}
    for word, value in choices:
        for code, weight in _weights([word]).items():
            if code not in found or weight >= found[code][0]:
                found[code] = (weight, value)
    return {code: value for code, (_, value) in found.items()}


def named_codes(words: Iterable[str]) -> frozenset[str]:
    """Return the codes of the rules that words name.

    Raises:
        UnknownRuleError: a word names no rule.
    """
    return frozenset(_weights(words))


def _weights(words: Iterable[str]) -> dict[str, int]:
    """Return the length of the longest word that names a rule, by code; a name or code is the longest."""
    weights: dict[str, int] = {}
    for word in (part.strip() for given in words for part in given.split(",")):
        if not word:
            continue
        codes = [
            code
            for code, rule in RULES.items()
            if word.upper() == "ALL"
            or word == rule.name
            or (word.upper().startswith("S") and code.startswith(word.upper()))
        ]
        if not codes:
            raise UnknownRuleError(word)
        weight = 0 if word.upper() == "ALL" else len(word) if word.upper() not in RULES else 99
        for code in codes:
            weights[code] = max(weights.get(code, 0), 99 if word == RULES[code].name else weight)
    return weights


class RuleSelection(NamedTuple):
    """Selected rules, severities, thresholds and a minor version; the words are as written."""

    select: tuple[str, ...] = ()
    extend: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: tuple[tuple[str, Severity], ...] = ()
    minor: Optional[int] = None
    thresholds: tuple[tuple[str, int], ...] = ()

    def check(self) -> None:
        """Check the names of rules.

        Raises:
            UnknownRuleError: a word names no rule.
        """
        for words in (self.select, self.extend, self.ignore, tuple(word for word, _ in self.severity)):
            named_codes(words)


class FileChoice(NamedTuple):
    """A choice that holds for some files."""

    files: Globs
    choice: RuleSelection


class Settings(NamedTuple):
    """The settings of one source: codes of rules, severities that differ from the rules' own, and a target."""

    codes: frozenset[str]
    severities: Mapping[str, Severity]
    target: TargetCluster


class LintPolicy(NamedTuple):
    """All choices of a run; `settings` resolves them for a source."""

    profile: RuleProfile = RuleProfile.DEFAULT
    config: RuleSelection = RuleSelection()
    per_file: tuple[FileChoice, ...] = ()
    flags: RuleSelection = RuleSelection()
    autoscaler: str = ""

    def settings(self, source: SourceFile) -> Settings:
        """Return the settings of a source."""
        return self._with(item.choice for item in self.per_file if item.files.match(source.name))

    def _with(self, for_file: Iterable[RuleSelection]) -> Settings:
        return _settings(self.profile, (self.config, *for_file, self.flags), autoscaler=self.autoscaler)

    def codes(self, sources: Iterable[SourceFile]) -> frozenset[str]:
        """Return the rules that are selected for any of the sources."""
        return frozenset().union(*(self.settings(source).codes for source in sources))

    @property
    def possible(self) -> frozenset[str]:
        """Return the rules that may be selected for some source."""
        return frozenset().union(self._with(()).codes, *(self._with([item.choice]).codes for item in self.per_file))

    def select_findings(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return the findings of selected rules, with the selected severities.

        Findings that hide a document from every rule are always reported, as errors. Of rules that the minimal profile
        selects, only errors are reported.
        """
        only_errors = self.profile.codes if self.profile is RuleProfile.MINIMAL else frozenset()
        kept = []
        for finding in findings:
            settings, rule = self.settings(finding.place.source), finding.rule
            is_left_out = rule.code in only_errors and rule.severity is not Severity.ERROR
            if finding.is_unreadable:
                kept.append(finding)
            elif rule.code in settings.codes and not is_left_out:
                severity = settings.severities.get(rule.code)
                kept.append(finding._replace(rule=rule._replace(severity=severity)) if severity else finding)
        return kept


class Config(NamedTuple):
    """A `.kubectl-spread.yaml`, or the defaults without one.

    `root` is the absolute path of its directory; `paths`, `baseline` and `policies` start there. `podspec_paths` are
    the kinds that it adds with the paths of their pods, each with the place of its entry.
    """

    root: str
    source: Optional[SourceFile] = None
    profile: RuleProfile = RuleProfile.DEFAULT
    choice: RuleSelection = RuleSelection()
    fail_on: str = ""
    kubernetes_version: str = ""
    autoscaler: str = ""
    paths: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    per_file: tuple[FileChoice, ...] = ()
    ignores: tuple[Waiver, ...] = ()
    baseline: str = ""
    domains: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    podspec_paths: tuple[tuple[PodSpecPath, Place], ...] = ()
    roots: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()


@functools.lru_cache(maxsize=256)
def _settings(profile: RuleProfile, choices: tuple[RuleSelection, ...], *, autoscaler: str) -> Settings:
    codes = profile.codes_for(autoscaler)
    severity: dict[str, Severity] = {}
    thresholds: dict[str, int] = {}
    minor = None
    for choice in choices:
        codes = selected_codes(choice.select, choice.ignore, choice.extend, base=codes)
        severity.update(by_code(choice.severity))
        thresholds.update(by_code(choice.thresholds))
        minor = minor if choice.minor is None else choice.minor
    return Settings(codes, severity, TargetCluster(minor, autoscaler, tuple(thresholds.items())))
