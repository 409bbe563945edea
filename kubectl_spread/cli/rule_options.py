"""Options of `check` that a configuration file has, too."""

from __future__ import annotations

import click

from kubectl_spread.cli import options
from kubectl_spread.cli.complete import levels_of_rules, rules
from kubectl_spread.cli.options import F, gather_options, option
from kubectl_spread.operations.rule_choice import RuleChoice


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
    option(
        "--fail-on [error|warning|info|never]: Exit with 1 on findings of this severity or worse.  [default: error]"
    ),
    option(
        "--profile [minimal|default|strict]: Rule set to start from: only errors, the default rules, or also "
        "opinions.  [default: default]"
    ),
    option(
        "--select RULES...: Run only these rules: codes, code prefixes or names, separated by commas.",
        shell_complete=rules,
    ),
    option("--extend-select RULES...: Run these rules as well.", shell_complete=rules),
    option(
        "--ignore RULES...: Skip these rules. The longer prefix wins: --ignore SPR2 --select SPR201 runs SPR201.",
        shell_complete=rules,
    ),
    option(
        "--severity RULE=LEVEL...: Override a rule's severity: error, warning or info.", shell_complete=levels_of_rules
    ),
    option("--autoscaler [cluster-autoscaler|karpenter]: Autoscaler that adds nodes; its rules run as well."),
    option(
        "--exclude GLOB...: Skip files and directories that match, unless they are named.", callback=_possible_globs
    ),
    option("--force-exclude: Skip excluded files even if they are named."),
    option("--project: Check the paths of the configuration file; if it has none, everything below its directory."),
    option("--baseline FILE: Report only findings that are not in this baseline file."),
    option("--write-baseline FILE: Write all findings to a baseline file."),
    option(
        "--no-ignores: Also report findings that a comment, an annotation, the configuration or a baseline suppresses."
    ),
    option("--config FILE: Configuration file.  [default: .kubectl-spread.yaml here or in a parent directory]"),
    option("--no-config: Ignore configuration files."),
)


def choice_options(function: F) -> F:
    """Add these options; the command gets them as one argument, `choice`."""
    return gather_options("choice", RuleChoice, _OPTIONS, fields=RuleChoice._fields, section=options.RULES)(function)
