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
from types import MappingProxyType
from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.lint.finding import Finding, Place, Severity
from kubectl_spread.lint.grouping.project import TargetCluster
from kubectl_spread.lint.selection.select import named_codes, RuleProfile, selected_codes, severities
from kubectl_spread.objects.workloads.kinds import PodSpecPath
from kubectl_spread.text.glob import Globs
from kubectl_spread.text.source import SourceFile

if TYPE_CHECKING:  # needed where something is suppressed
    from kubectl_spread.lint.selection.suppress import Waiver


class RuleSelection(NamedTuple):
    """Selected rules, severities and a minor version; the words are as written."""

    select: tuple[str, ...] = ()
    extend: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: tuple[tuple[str, Severity], ...] = ()
    minor: Optional[int] = None

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
        for_file = [item.choice for item in self.per_file if item.files.match(source.name)]
        return _settings(self.profile, (self.config, *for_file, self.flags), autoscaler=self.autoscaler)

    def codes(self, sources: Iterable[SourceFile]) -> frozenset[str]:
        """Return the rules that are selected for any of the sources."""
        return frozenset().union(*(self.settings(source).codes for source in sources))

    @property
    def possible(self) -> frozenset[str]:
        """Return the rules that may be selected for some source."""
        chains = ((), *((item.choice,) for item in self.per_file))
        ways = (
            _settings(self.profile, (self.config, *chain, self.flags), autoscaler=self.autoscaler) for chain in chains
        )
        return frozenset().union(*(settings.codes for settings in ways))

    def select_findings(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return the findings of selected rules, with the selected severities.

        Findings that hide a document from every rule are always reported, as errors. Of rules that the minimal profile
        selects, only errors are reported.
        """
        only_errors = self.profile.codes if self.profile is RuleProfile.MINIMAL else frozenset()
        kept = []
        by_source: dict[int, Settings] = {}
        for finding in findings:
            source = finding.place.source
            settings = by_source.get(id(source)) or by_source.setdefault(id(source), self.settings(source))
            severity = settings.severities.get(finding.rule.code)
            if finding.is_unreadable:
                kept.append(finding)
            elif finding.rule.code in settings.codes:
                if finding.rule.code in only_errors and finding.rule.severity is not Severity.ERROR:
                    continue
                stated = finding.rule._replace(severity=severity) if severity else finding.rule
                kept.append(finding if stated is finding.rule else finding._replace(rule=stated))
        return kept


class NamedPath(NamedTuple):
    """An entry of the config, and the place of its path there."""

    path: PodSpecPath
    place: Place


class Config(NamedTuple):
    """A `.kubectl-spread.yaml`, or the defaults without one.

    `root` is the absolute path of its directory; `paths`, `baseline` and `policies` start there.
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
    named_paths: tuple[NamedPath, ...] = ()
    roots: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()

    @property
    def podspec_paths(self) -> tuple[PodSpecPath, ...]:
        """Return the kinds from the configuration, with the places of their pods."""
        return tuple(named.path for named in self.named_paths)


@functools.lru_cache(maxsize=256)
def _settings(profile: RuleProfile, choices: tuple[RuleSelection, ...], *, autoscaler: str) -> Settings:
    codes = profile.codes_for(autoscaler)
    severity: dict[str, Severity] = {}
    minor = None
    for choice in choices:
        codes = selected_codes(choice.select, choice.ignore, choice.extend, base=codes)
        severity.update(severities(choice.severity))
        minor = minor if choice.minor is None else choice.minor
    return Settings(codes, severity, TargetCluster(minor, autoscaler))
