"""The inputs and rules of `check`, from the configuration file and from the request."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple, Optional, TYPE_CHECKING, Union

from kubectl_spread.errors import RequestError, SourceError

if TYPE_CHECKING:  # imported where they are used, so that --help and usage errors stay fast
    from kubectl_spread.lint.check_source import Result
    from kubectl_spread.lint.finding import Finding, Severity
    from kubectl_spread.lint.pipeline import AcceptedItems
    from kubectl_spread.lint.selection import Config, LintPolicy
    from kubectl_spread.sources.files import Exclusion, Input
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


class InputPaths(NamedTuple):
    """The files and directories to read; `is_whole` if they are all that the project has.

    `kustomized` are directories for kustomize, which may download if `allow_remote`. `inside` is the root of the
    configuration, if it names the paths.
    """

    paths: tuple[str, ...]
    recursive: bool
    exclusion: Exclusion
    is_whole: bool
    kustomized: tuple[str, ...] = ()
    inside: Optional[str] = None
    allow_remote: bool = False


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
    from kubectl_spread.lint.selection import LintPolicy, RuleProfile, RuleSelection, UnknownRuleError

    if choice.profile and choice.select:
        raise RequestError("--select replaces the profile: use --extend-select together with --profile")
    if choice.select and not "".join(choice.select).strip(" ,"):
        raise RequestError("--select is empty: name a rule, such as SPR202 or selector-missing")
    severities = tuple(map(_severity, choice.severity))
    flags = RuleSelection(choice.select, choice.extend_select, choice.ignore, severities, minor)
    asked = LintPolicy(config.profile, config.choice, config.per_file, flags, choice.autoscaler or config.autoscaler)
    if choice.profile:
        asked = asked._replace(profile=RuleProfile(choice.profile), config=config.choice._replace(select=()))
    try:
        flags.check()
    except UnknownRuleError as error:
        raise RequestError(str(error)) from None
    return asked


def asking_for_facts(choice: RuleChoice) -> list[str]:
    """Return the words on the command line that select only rules which need cluster facts."""
    from kubectl_spread.lint.registry import RULES
    from kubectl_spread.lint.selection import named_codes

    words = (part.strip() for given in (*choice.select, *choice.extend_select) for part in given.split(","))
    return [word for word in words if word and all(RULES[code].needs_facts for code in named_codes([word]))]


def accepted_items(choice: RuleChoice, config: Config, *, is_whole: bool) -> AcceptedItems:
    """Return which findings the configuration accepts."""
    from kubectl_spread.lint.pipeline import AcceptedItems

    return AcceptedItems(config.ignores, not choice.no_ignores, is_whole, config.named_paths)


def input_paths(
    paths: tuple[str, ...],
    choice: RuleChoice,
    config: Config,
    *,
    recursive: bool,
    kustomized: tuple[str, ...] = (),
    allow_remote: bool = False,
) -> InputPaths:
    """Return the paths to read: from the request, or from the configuration.

    Raises:
        RequestError: no paths are named, or the options contradict each other.
    """
    from kubectl_spread.sources.files import Exclusion
    from kubectl_spread.text.glob import Globs

    if (paths or kustomized) and choice.project:
        raise RequestError("--project takes no files: it checks the paths of the configuration")
    if not paths and not kustomized and not choice.project and not config.paths:
        raise RequestError(
            "name a file or directory to check, or - for standard input; or put `paths` in .kubectl-spread.yaml; "
            "or name a cluster whose workloads to check, with --kubeconfig or --snapshot"
        )
    if paths.count("-") > 1:
        raise RequestError("standard input cannot be read twice")
    globs = (Globs(config.root, config.exclude), Globs(os.getcwd(), choice.exclude))
    project = tuple(os.path.relpath(os.path.join(config.root, path)) for path in config.paths or (".",))
    exclusion = Exclusion(globs, choice.force_exclude)
    if not paths and not kustomized:
        return InputPaths(project, True, exclusion, is_whole=True, inside=config.root if config.paths else None)
    is_whole = recursive and all(_is_below(wanted, paths) for wanted in project)
    return InputPaths(paths, recursive, exclusion, is_whole, kustomized, allow_remote=allow_remote)


def read_inputs(given: InputPaths) -> Iterator[Union[Input, SourceError]]:
    """Yield the files, then kustomize's output for directories."""
    from kubectl_spread.sources import files

    yield from files.inputs(given.paths, recursive=given.recursive, exclusion=given.exclusion, inside=given.inside)
    yield from render_directories(given.kustomized, allow_remote=given.allow_remote)


def at_path_setting(error: SourceError, given: InputPaths, config: Config) -> SourceError:
    """Return an error about a path that the configuration names, at its place there; other errors unchanged."""
    if given.inside is None or error.source not in given.paths:
        return error
    from kubectl_spread.sources.config import at_setting

    return at_setting(error, config, ("paths", given.paths.index(error.source)))


def render_directories(directories: tuple[str, ...], *, allow_remote: bool) -> Iterator[Union[Input, SourceError]]:
    """Yield kustomize's output for directories."""
    if directories:
        from kubectl_spread.sources import kustomize  # subprocess: 5 ms

        yield from kustomize.render_directories(directories, allow_remote=allow_remote)


def _severity(text: str) -> tuple[str, Severity]:
    from kubectl_spread.lint.finding import Severity

    word, _, level = text.partition("=")
    if level not in LEVELS:
        raise RequestError(f"--severity takes RULE=LEVEL, and the levels are {', '.join(LEVELS)}: {text}")
    return word.strip(), Severity(level)


def _is_below(path: str, directories: tuple[str, ...]) -> bool:
    """Return whether a path is one of some directories, or below one."""
    real = os.path.realpath(path)
    return any(
        real == directory or real.startswith(os.path.join(directory, ""))
        for directory in map(os.path.realpath, directories)
    )


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
        return pipeline.findings_of(
            results, self.policy, accepted=pipeline.AcceptedItems(self.config.ignores), rules=rules
        ).findings
