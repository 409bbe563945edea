"""The rules of `check`, from the configuration file and from the request."""

from __future__ import annotations

import os
from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.errors import RequestError

if TYPE_CHECKING:  # imported where they are used, so that --help and usage errors stay fast
    from kubectl_spread.lint.check_source import Result
    from kubectl_spread.lint.finding import Finding
    from kubectl_spread.lint.selection import Config, LintPolicy
    from kubectl_spread.text.source import SourceFile

LEVELS = ("error", "warning", "info")  # the worst first


class RuleChoice(NamedTuple):
    """Settings that override or extend the configuration file.

    Attributes:
        config: the configuration file; otherwise the nearest `.kubectl-spread.yaml` upwards.
        no_config: use no configuration file.
        profile: `minimal`, `default` or `strict`.
        select, extend_select, ignore: codes, prefixes of codes, or names of rules.
        severity: `RULE=LEVEL`.
        autoscaler: `cluster-autoscaler` or `karpenter`.
        fail_on: the severity from which on the command exits with 1.
        exclude: globs of files and directories to skip.
        force_exclude: skip them even if they are named.
        project: check the paths of the configuration.
        baseline: a file of known findings, which are not reported.
        write_baseline: write all findings to this file, as known.
        no_ignores: report findings that comments, annotations, configuration or baseline accept.
    """

    config: Optional[str] = None
    no_config: bool = False
    profile: Optional[str] = None
    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: tuple[str, ...] = ()
    autoscaler: Optional[str] = None
    fail_on: Optional[str] = None
    exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    project: bool = False
    baseline: Optional[str] = None
    write_baseline: Optional[str] = None
    no_ignores: bool = False


def load_config(choice: RuleChoice) -> Config:
    """Return the named configuration, or else the one of the project, or an empty one.

    Raises:
        SourceError: it cannot be read.
        ConfigError: it is invalid.
    """
    from kubectl_spread.lint.selection import Config
    from kubectl_spread.sources.files import config_path

    if choice.config is not None and choice.no_config:
        raise RequestError("--config and --no-config exclude each other")
    is_found = choice.config is None and not choice.no_config
    path = config_path(".") if is_found else choice.config
    if path is None:
        return Config(os.getcwd())
    from kubectl_spread.sources import config

    return config.load(path, inside=os.path.dirname(os.path.abspath(path)) if is_found else None)


def policy(choice: RuleChoice, config: Config, *, minor: Optional[int]) -> LintPolicy:
    """Return which rules each file is checked by.

    Args:
        choice: the request's settings.
        config: the configuration.
        minor: the Kubernetes minor version of the request.

    Raises:
        RequestError: the settings contradict each other, or name no rule.
    """
    from kubectl_spread.lint.finding import Severity
    from kubectl_spread.lint.selection import LintPolicy, RuleProfile, RuleSelection, UnknownRuleError

    if choice.profile and choice.select:
        raise RequestError("--select replaces the profile: use --extend-select together with --profile")
    if choice.select and not "".join(choice.select).strip(" ,"):
        raise RequestError("--select is empty: name a rule, such as SPR202 or selector-missing")
    severities = []
    for text in choice.severity:
        word, _, level = text.partition("=")
        if level not in LEVELS:
            raise RequestError(f"--severity takes RULE=LEVEL, and the levels are {', '.join(LEVELS)}: {text}")
        severities.append((word.strip(), Severity(level)))
    flags = RuleSelection(choice.select, choice.extend_select, choice.ignore, tuple(severities), minor)
    asked = LintPolicy(config.profile, config.choice, config.per_file, flags, choice.autoscaler or config.autoscaler)
    if choice.profile:
        asked = asked._replace(profile=RuleProfile(choice.profile), config=config.choice._replace(select=()))
    try:
        flags.check()
    except UnknownRuleError as error:
        raise RequestError(str(error)) from None
    return asked


class DocumentChecker(NamedTuple):
    """The rules and the configuration for texts that are not files yet, such as the open documents of an editor."""

    policy: LintPolicy
    config: Config

    def read(self, source: SourceFile) -> Result:
        """Return the objects of one text. A result can be kept until the text changes."""
        from kubectl_spread.lint import pipeline
        from kubectl_spread.objects.workloads.manifest import looks_like_objects

        # Somebody looks at an open document, so that an error in one with objects matters.
        return pipeline.read(source, self.policy, self.config, named=looks_like_objects(source.text))

    def findings(self, results: list[Result]) -> list[Finding]:
        """Return the findings of all texts by place, without accepted findings."""
        from kubectl_spread.lint import pipeline
        from kubectl_spread.sources.kustomize import root_rules

        sources = [result.source for result in results]
        unsaved = [source.name for source in sources if not os.path.isabs(source.name)]
        rules = root_rules(sources, self.config, texts=unsaved)
        config = self.config._replace(podspec_paths=())
        return pipeline.findings_of(results, self.policy, config, rules=rules).findings
