"""What the config says of `check`, and the flags that go beyond it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple
from typing import Optional
from typing import TYPE_CHECKING
from typing import Union

import click

from kubectl_spread.cli.complete import FILE
from kubectl_spread.cli.complete import levels_of_rules
from kubectl_spread.cli.complete import rules
from kubectl_spread.cli.options import F
from kubectl_spread.cli.options import gathering
from kubectl_spread.cli.options import kustomized
from kubectl_spread.errors import SourceError

if TYPE_CHECKING:  # imported where they are used, so that --help and usage errors stay fast
    from kubectl_spread.lint.finding import Severity
    from kubectl_spread.lint.pipeline import Accepted
    from kubectl_spread.lint.selection.policy import Config
    from kubectl_spread.lint.selection.policy import Policy
    from kubectl_spread.sources.files import Exclusion
    from kubectl_spread.sources.files import Input

LEVELS = ("error", "warning", "info")  # the worst first


class ChoiceOptions(NamedTuple):
    """What the command line asks for that the config can say, too."""

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


class Inputs(NamedTuple):
    """What to read; `is_whole` where that is all that the project has."""

    paths: tuple[str, ...]
    recursive: bool
    exclusion: Exclusion
    is_whole: bool
    kustomized: tuple[str, ...] = ()  # directories


_OPTIONS = (
    click.option(
        "--fail-on",
        type=click.Choice([*LEVELS, "never"]),
        help="Exit with 1 on findings of this severity or worse.  [default: error]",
    ),
    click.option(
        "--profile",
        type=click.Choice(["minimal", "default", "strict"]),
        help="Rule set to start from: only errors, the default rules, or also opinions.  [default: default]",
    ),
    click.option(
        "--select",
        multiple=True,
        metavar="RULES",
        shell_complete=rules,
        help="Run only these rules: codes, code prefixes or names, separated by commas.",
    ),
    click.option(
        "--extend-select", multiple=True, metavar="RULES", shell_complete=rules, help="Run these rules as well."
    ),
    click.option(
        "--ignore",
        multiple=True,
        metavar="RULES",
        shell_complete=rules,
        help="Skip these rules. The longer prefix wins: --ignore SPR2 --select SPR201 runs SPR201.",
    ),
    click.option(
        "--severity",
        multiple=True,
        metavar="RULE=LEVEL",
        shell_complete=levels_of_rules,
        help="Override a rule's severity: error, warning or info.",
    ),
    click.option(
        "--autoscaler",
        type=click.Choice(["cluster-autoscaler", "karpenter"]),
        help="Autoscaler that adds nodes; its rules run as well.",
    ),
    click.option(
        "--exclude",
        multiple=True,
        metavar="GLOB",
        help="Skip files and directories that match, unless they are named.",
    ),
    click.option("--force-exclude", is_flag=True, help="Skip excluded files even if they are named."),
    click.option(
        "--project",
        is_flag=True,
        help="Check the paths of the configuration file; if it has none, everything below its directory.",
    ),
    click.option(
        "--baseline", type=FILE, metavar="FILE", help="Report only findings that are not in this baseline file."
    ),
    click.option("--write-baseline", type=FILE, metavar="FILE", help="Write all findings to a baseline file."),
    click.option(
        "--no-ignores",
        is_flag=True,
        help="Also report findings that a comment, an annotation, the configuration or a baseline suppresses.",
    ),
    click.option(
        "--config",
        type=FILE,
        metavar="FILE",
        help="Configuration file.  [default: .kubectl-spread.yaml here or in a parent directory]",
    ),
    click.option("--no-config", is_flag=True, help="Ignore configuration files."),
)


def choice_options(function: F) -> F:
    """The options that the config has, too; the command gets them as one argument, `choices`."""
    return gathering("choices", ChoiceOptions, _OPTIONS)(function)


def load_config(choices: ChoiceOptions) -> Config:
    """The config that is named or found; without one, an empty one of the working directory.

    Raises:
        SourceError: it cannot be read.
        ConfigError: it cannot be followed.
    """
    from kubectl_spread.lint.selection.policy import Config
    from kubectl_spread.sources.files import config_path

    if choices.config is not None and choices.no_config:
        raise click.UsageError("--config and --no-config exclude each other")
    path = choices.config if choices.config is not None or choices.no_config else config_path(".")
    if path is None:
        return Config(os.getcwd())
    from kubectl_spread.sources import config

    return config.load(path)


def policy(choices: ChoiceOptions, config: Config, *, minor: Optional[int]) -> Policy:
    """What is asked of each source: by the config, and beyond it by the flags.

    Args:
        choices: the flags.
        config: the config.
        minor: the version that a flag names.
    """
    from kubectl_spread.lint.selection.policy import Choice
    from kubectl_spread.lint.selection.policy import Policy
    from kubectl_spread.lint.selection.select import Profile
    from kubectl_spread.lint.selection.select import UnknownRuleError

    if choices.profile and choices.select:
        raise click.UsageError("--select replaces the profile: use --extend-select beside --profile")
    severities = tuple(map(_severity, choices.severity))
    flags = Choice(choices.select, choices.extend_select, choices.ignore, severities, minor)
    asked = Policy(config.profile, config.choice, config.per_file, flags, choices.autoscaler or config.autoscaler)
    if choices.profile:
        asked = asked._replace(profile=Profile(choices.profile), config=config.choice._replace(select=()))
    try:
        flags.check()
    except UnknownRuleError as error:
        raise click.UsageError(str(error)) from None
    return asked


def read(given: Inputs) -> Iterator[Union[Input, SourceError]]:
    """Read the files, then what kustomize makes of directories."""
    from kubectl_spread.sources import files

    yield from files.inputs(given.paths, recursive=given.recursive, exclusion=given.exclusion)
    yield from kustomized(given.kustomized)


def inputs(
    paths: tuple[str, ...],
    choices: ChoiceOptions,
    config: Config,
    *,
    recursive: bool,
    kustomized: tuple[str, ...] = (),
) -> Inputs:
    """What to read: the paths that are named, or the project's."""
    from kubectl_spread.sources.files import Exclusion
    from kubectl_spread.text.glob import Globs

    if (paths or kustomized) and choices.project:
        raise click.UsageError("--project names the files itself")
    if not paths and not kustomized and not choices.project and not config.paths:
        raise click.UsageError(
            "name a file or directory to check, or - for standard input; or put `paths` in .kubectl-spread.yaml",
            click.get_current_context(),
        )
    if paths.count("-") > 1:
        raise click.UsageError("standard input cannot be read twice")
    globs = (Globs(config.root, config.exclude), Globs(os.getcwd(), choices.exclude))
    project = tuple(os.path.relpath(os.path.join(config.root, path)) for path in config.paths or (".",))
    exclusion = Exclusion(globs, choices.force_exclude)
    if not paths and not kustomized:
        return Inputs(project, recursive=True, exclusion=exclusion, is_whole=True)
    is_whole = recursive and all(_is_below(wanted, paths) for wanted in project)
    return Inputs(paths, recursive, exclusion, is_whole, kustomized)


def accepted(choices: ChoiceOptions, config: Config, *, is_whole: bool) -> Accepted:
    """Which findings are accepted."""
    from kubectl_spread.lint.pipeline import Accepted

    return Accepted(config.ignores, not choices.no_ignores, is_whole, config.named_paths)


def _severity(text: str) -> tuple[str, Severity]:
    from kubectl_spread.lint.finding import Severity

    word, _, level = text.partition("=")
    if level not in LEVELS:
        raise click.UsageError(f"--severity takes RULE=LEVEL, and the levels are {', '.join(LEVELS)}: {text}")
    return word.strip(), Severity(level)


def _is_below(path: str, directories: tuple[str, ...]) -> bool:
    """Whether a path is one of some directories, or below one."""
    real = os.path.realpath(path)
    return any(
        real == directory or real.startswith(os.path.join(directory, ""))
        for directory in map(os.path.realpath, directories)
    )
