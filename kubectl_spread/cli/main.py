"""The entry point: the group, and the one place where errors become messages and exit codes."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Optional, TYPE_CHECKING

import click

from kubectl_spread import __version__
from kubectl_spread.cli.console import Exit, flush, print_error
from kubectl_spread.errors import ConfigError, NotFoundError, RefusedError, RequestError, SpreadError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


_ISSUES = "https://github.com/kubectl-spread/kubectl-spread/issues"

_COMPLETE = "_KUBECTL_SPREAD_COMPLETE"  # click's variable, which the shell sets for completion


COMMANDS = {  # each in a module of its own, with its line in the help
    "check": "Check manifests or running workloads",
    "explain": "Explain why a pod is Pending, or why it is where it is",
    "simulate": "Simulate a kubectl command and what happens after it",
    "guarantee": "Prove that constraints keep a policy, or show how it breaks",
    "status": "Show how running pods are spread over their domains",
    "rebalance": "Plan evictions that repair violated constraints",
    "exporter": "Serve metrics of status for Prometheus",
    "snapshot": "Save the cluster facts to a file for other commands",
    "demo": "Show the main commands on an example",
    "init": "Propose a configuration for a repository",
    "rule": "List, explain or search the rules of check",
    "lsp": "Start the language server for editors",
    "version": "Print the versions of program, scheduler rules and server",
    "options": "List the flags that choose the cluster, for most commands",
}


_MEANT = {  # what people type for a command, by its meaning
    **dict.fromkeys(("lint", "validate", "verify", "test", "scan", "fix", "audit"), "check"),
    **dict.fromkeys(("why", "describe", "pending", "debug"), "explain"),
    **{verb: f"simulate {verb}" for verb in ("drain", "scale", "apply", "delete", "cordon", "lose", "rollout")},
    **dict.fromkeys(("restart", "rollout-restart"), "simulate rollout restart"),
    **dict.fromkeys(("prove", "policy", "survive", "assert"), "guarantee"),
    **dict.fromkeys(("get", "list", "show", "top", "skew"), "status"),
    **dict.fromkeys(("evict", "balance", "deschedule", "repair"), "rebalance"),
    **dict.fromkeys(("dump", "export", "save"), "snapshot"),
    **dict.fromkeys(("metrics", "serve", "prometheus"), "exporter"),
    **dict.fromkeys(("rules", "codes"), "rule"),
    **dict.fromkeys(("config", "configure"), "init"),
}


class LazyGroup(click.Group):
    """A group that imports the module of a command when it runs; its help is printed from the table alone."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> Optional[click.Command]:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"kubectl_spread.cli.commands.{cmd_name}").command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the group's options; `help COMMAND` is `COMMAND --help`."""
        if args[:1] == ["help"]:
            args = [*(word for word in args[1:2] if word != "help"), "--help"]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[Optional[str], Optional[click.Command], list[str]]:
        """Return the command of the first argument.

        Raises:
            UsageError: there is none; the message names the command that was probably meant.
        """
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            from kubectl_spread.text.wording import did_you_mean  # not needed for known commands

            meant = _MEANT.get(args[0])
            near = f"did you mean `{meant}`?" if meant else did_you_mean(args[0], COMMANDS)
            if near:
                raise click.UsageError(f"no such command '{args[0]}': {near}", ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands with their descriptions, without importing them; then the group's own options."""
        from click.shell_completion import CompletionItem

        items = [CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)]
        return items + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Available Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,
    no_args_is_help=False,
)
@click.version_option(__version__, prog_name="kubectl spread", message="%(prog)s %(version)s")
@click.pass_context
def commands(ctx: click.Context) -> None:
    """Check, dry-run and explain pod topology spread constraints.

    Nothing in the cluster is ever changed. Every command has its own --help with examples;
    `kubectl spread options` lists the flags that choose the cluster.

    \b
    Examples:
      # Check manifests without a cluster
      kubectl spread check deploy/

    \b
      # Would all replicas be scheduled on a cluster like this?
      kubectl spread check web.yaml --topology zones=3,nodes=2,cpu=4,memory=16Gi

    \b
      # Why is this pod Pending?
      kubectl spread explain pod web-7d9f-x2x4 -n shop

    \b
      # Which running workloads violate their constraints?
      kubectl spread status -A
    """  # noqa: D301
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def run(args: Optional[list[str]] = None) -> int:
    """Run the program; the exit code."""
    try:
        outcome = commands.main(args, prog_name=_program(), standalone_mode=False)
        flush()  # a reader that has gone shows here
    except (click.UsageError, RequestError) as error:
        message = (error.format_message() if isinstance(error, click.UsageError) else str(error)).rstrip(".")
        print_error(message[:1].lower() + message[1:])
        context = error.ctx if isinstance(error, click.UsageError) else None
        click.echo(f"See '{context.command_path if context else _program()} --help' for usage.", err=True)
        return Exit.USAGE
    except click.Abort:  # click has ended the line with ^C
        click.echo("interrupted", err=True)
        return Exit.INTERRUPTED
    except SpreadError as error:
        for problem in error.problems:
            print_error(problem)
        if isinstance(error, ConfigError):
            return Exit.USAGE
        return Exit.FINDINGS if isinstance(error, (NotFoundError, RefusedError)) else Exit.UNREADABLE
    except (BrokenPipeError, SystemExit):  # click exits with 1 where the reader of the output closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes its buffer at exit
        return Exit.READER_GONE
    except MemoryError:
        print_error("there is not enough memory for this input")
        return Exit.UNREADABLE
    except OSError as error:  # it is not about an input: inputs have their own errors
        message = f"the output could not be written: {(error.strerror or str(error)).lower()}"
        try:
            os.getcwd()
        except OSError:
            message = "the working directory no longer exists; change to another one first"
        print_error(message)
        return Exit.UNREADABLE
    except Exception as error:  # noqa: BLE001 (the one handler for bugs)
        import traceback

        traceback.print_exception(error)
        click.echo(f"error: this is a bug in kubectl spread {__version__}; please report it: {_ISSUES}", err=True)
        return Exit.BUG
    return outcome if isinstance(outcome, int) else Exit.CLEAN


def _program() -> str:
    """Return the program's name: as kubectl shows it, as a shell completes it, or as a Python module."""
    if _COMPLETE in os.environ:
        return "kubectl-spread"
    name = os.path.basename(sys.argv[0])
    return "python -m kubectl_spread" if name == "__main__.py" else "kubectl spread"
