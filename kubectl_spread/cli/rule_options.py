"""Options of `check` that a configuration file has, too."""

from __future__ import annotations

import click

from kubectl_spread.cli import options
from kubectl_spread.cli.complete import FILE, levels_of_rules, rules
from kubectl_spread.cli.options import F, gather_options
from kubectl_spread.operations.rule_choice import LEVELS, RuleChoice


def _possible_globs(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return globs.

    Raises:
        click.BadParameter: a set in one of them is not complete.
    """
    for value in values:
        from kubectl_spread.text.glob import glob_error

        wrong = glob_error(value)
        if wrong:
            raise click.BadParameter(f"{value!r} is not a glob: {wrong}.", ctx, param)
    return values


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
        callback=_possible_globs,
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
    """Add these options; the command gets them as one argument, `choice`."""
    return gather_options("choice", RuleChoice, _OPTIONS, fields=RuleChoice._fields, section=options.RULES)(function)
