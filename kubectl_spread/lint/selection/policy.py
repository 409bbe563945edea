"""What is asked for: by the profile, by the config, by its entries for some files, and by the command line.

```
profile ─▶ config ─▶ perFile, entry by entry ─▶ command line          of one source: Settings
```

Each `Choice` goes beyond the one before: `select` begins anew, `extend` adds, `ignore` takes away. Within one, the
longer word counts.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple
from typing import Optional
from typing import TYPE_CHECKING

from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.finding import Place
from kubectl_spread.lint.finding import Severity
from kubectl_spread.lint.project import TargetCluster
from kubectl_spread.lint.selection.select import named
from kubectl_spread.lint.selection.select import Profile
from kubectl_spread.lint.selection.select import selected
from kubectl_spread.lint.selection.select import severities
from kubectl_spread.objects.kinds import PodSpecPath
from kubectl_spread.text.glob import Globs
from kubectl_spread.text.source import SourceFile

if TYPE_CHECKING:  # needed where something is suppressed
    from kubectl_spread.lint.selection.suppress import Waiver


class Choice(NamedTuple):
    """Rules, severities and a minor version that somebody asks for; the words are as written."""

    select: tuple[str, ...] = ()
    extend: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: tuple[tuple[str, Severity], ...] = ()
    minor: Optional[int] = None

    def check(self) -> None:
        """Raise an UnknownRuleError where a word names no rule."""
        for words in (self.select, self.extend, self.ignore, tuple(word for word, _ in self.severity)):
            named(words)


class FileChoice(NamedTuple):
    """A choice that holds for some files."""

    files: Globs
    choice: Choice


class Settings(NamedTuple):
    """What is asked of one source: codes of rules, severities that differ from the rules' own, and a target."""

    codes: frozenset[str]
    severities: Mapping[str, Severity]
    target: TargetCluster


class Policy(NamedTuple):
    """All that is asked for; `settings` says what that means for a source."""

    profile: Profile = Profile.DEFAULT
    config: Choice = Choice()
    per_file: tuple[FileChoice, ...] = ()
    flags: Choice = Choice()
    autoscaler: str = ""

    def settings(self, source: SourceFile) -> Settings:
        """Return the settings of a source."""
        for_file = [item.choice for item in self.per_file if item.files.match(source.name)]
        return _settings(self.profile, (self.config, *for_file, self.flags), autoscaler=self.autoscaler)

    def codes(self, sources: Iterable[SourceFile]) -> frozenset[str]:
        """Return the rules that are asked for of any of the sources."""
        return frozenset().union(*(self.settings(source).codes for source in sources))

    @property
    def possible(self) -> frozenset[str]:
        """Return the rules that may be asked for of some source."""
        chains = ((), *((item.choice,) for item in self.per_file))
        ways = (
            _settings(self.profile, (self.config, *chain, self.flags), autoscaler=self.autoscaler) for chain in chains
        )
        return frozenset().union(*(settings.codes for settings in ways))

    def judged(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return the findings that are asked for, as severe as is asked for.

        What hides a document from every rule is told whichever rules are asked for, as the error that it is. Of a rule
        that the minimal profile brought, what is no error is not asked for.
        """
        only_errors = self.profile.codes if self.profile is Profile.MINIMAL else frozenset()
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
    """A `.kubectl-spread.yaml`; without one, what holds where nobody says anything.

    `root` is the absolute path of its directory; `paths` and `baseline` start there.
    """

    root: str
    source: Optional[SourceFile] = None
    profile: Profile = Profile.DEFAULT
    choice: Choice = Choice()
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

    @property
    def podspec_paths(self) -> tuple[PodSpecPath, ...]:
        """Return further kinds, and where they have their pods."""
        return tuple(named.path for named in self.named_paths)


@functools.lru_cache(maxsize=256)
def _settings(profile: Profile, choices: tuple[Choice, ...], *, autoscaler: str) -> Settings:
    codes = profile.codes_for(autoscaler)
    severity: dict[str, Severity] = {}
    minor = None
    for choice in choices:
        codes = selected(choice.select, choice.ignore, choice.extend, base=codes)
        severity.update(severities(choice.severity))
        minor = minor if choice.minor is None else choice.minor
    return Settings(codes, severity, TargetCluster(minor, autoscaler))
