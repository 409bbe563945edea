"""Options and outputs that several commands share, and the command whose --help lists them in sections."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple, Optional, TYPE_CHECKING

import click

from kubectl_spread.cli import complete
from kubectl_spread.cli.complete import FILE
from kubectl_spread.cli.console import announce, is_terminal, width
from kubectl_spread.errors import RequestError
from kubectl_spread.objects.releases.version import FIRST_MINOR, LAST_MINOR, RECORDED_MINOR
from kubectl_spread.operations.cluster_facts import ClusterSource
from kubectl_spread.report.table import Style, UNBROKEN
from kubectl_spread.sources.live.flags import as_words, Flags
from kubectl_spread.text.wording import nearest

if TYPE_CHECKING:
    from kubectl_spread.guarantee.policy import Policy
    from kubectl_spread.operations.cluster_facts import LoadedCluster
    from kubectl_spread.report.pages.page import PageSource


_OWN = "Options"
RULES, FACTS, CONNECTION, OUTPUT = "Rules and files", "Cluster facts", "API server, as in kubectl", "Output"
SHARED = (FACTS, CONNECTION, OUTPUT)  # sections that `kubectl spread options` prints instead of each --help
_AS_WRITTEN = "\b\n"  # click keeps the lines of a paragraph that begins so
_COPIED = "Examples:"  # the heading of commands to copy: their lines stay whole, in this paragraph and all later ones


_YEAR_S = 31_536_000
_WIDTH = 120  # of an answer, if the width of the output is unknown


class Seconds(click.FloatRange):
    """A time of at most a year, as Python cannot wait for inf or nan seconds."""

    name = "number of seconds"

    def convert(self, value: Any, param: Optional[click.Parameter], ctx: Optional[click.Context]) -> float:
        """Parse a number of seconds."""
        seconds = float(super().convert(value, param, ctx))
        if not seconds <= _YEAR_S:  # also true of nan
            self.fail(f"{value} is not a number of seconds up to {_YEAR_S:,}, a year", param, ctx)
        return seconds


class Count(click.IntRange):
    """A number in a range; click calls its type `integer range`."""

    name = "integer"


Decorator = Callable[[Any], Any]  # of a command


_LINE = re.compile(r"(?P<names>(?:-\w, )?--[\w-]+)(?: (?P<metavar>\S+?)(?P<more>\.\.\.)?)?: (?P<help>.*)")


def option(
    line: str,
    *,
    name: Optional[str] = None,
    default: Any = None,
    read: Optional[Callable[[Any], Any]] = None,
    **settings: Any,
) -> Decorator:
    """Return an option from its line in --help, such as `--token TOKEN: Bearer token for the API server`.

    Without a value it is a flag. `FILE...` is repeatable. The shell completes a FILE, PATH or DIR, and `[a|b]` is a
    choice. A default is shown, unless the text shows it.

    Args:
        line: its names, its value, and the help text.
        name: the parameter of the command, if it is not the long name.
        default: if the option is not named.
        read: returns the value for a text, or raises ValueError.
        settings: further settings of click.
    """
    match = _LINE.fullmatch(line)
    assert match is not None, line  # noqa: S101 (a line of ours)
    metavar = match["metavar"]
    if metavar is None and "type" not in settings:
        settings["is_flag"] = True
    elif metavar is not None and metavar.startswith("["):
        settings["type"] = click.Choice(metavar.strip("[]").split("|"))
    elif metavar is not None:
        settings = {
            "metavar": metavar + (match["more"] or ""),
            **({"type": FILE} if metavar in ("FILE", "PATH", "DIR") else {}),
            **settings,
        }
    if match["more"]:
        settings["multiple"] = True
    if default is not None:
        settings |= {"default": default, "show_default": bool(default) and "[default:" not in line}
    names = (*match["names"].split(", "), *(() if name is None else (name,)))

    def callback(_ctx: click.Context, _param: click.Parameter, value: Any) -> Any:
        if read is None or value is None:
            return value
        try:
            return tuple(map(read, value)) if isinstance(value, tuple) else read(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None

    return click.option(*names, help=match["help"], callback=callback, **settings)


def _version(text: str) -> str:
    """Refuse an empty version: a variable of a script that is not set must not mean the newest release."""
    if not text.strip():
        raise click.UsageError("--kubernetes-version is empty: name a version such as 1.34")
    return text


_CONNECTION = (
    option("--kubeconfig FILE: Kubeconfig file to use.  [default: $KUBECONFIG or ~/.kube/config]"),
    *(
        option(f"--{name} NAME: Kubeconfig {name} to use.", shell_complete=complete.of_kubeconfig(f"{name}s"))
        for name in ("context", "cluster", "user")
    ),
    option("-s, --server URL: Address and port of the API server."),
    option("--token TOKEN: Bearer token for the API server."),
    option("--certificate-authority FILE: Certificate file of the API server's authority."),
    option("--client-certificate FILE: Client certificate file for TLS."),
    option("--client-key FILE: Client key file for TLS."),
    option("--tls-server-name NAME: Host name to expect in the API server's certificate."),
    option("--insecure-skip-tls-verify: Do not verify the API server's certificate (insecure)."),
    option("--as NAME: User or service account to impersonate.", name="impersonate"),
    option("--as-uid UID: UID to impersonate.", name="impersonate_uid"),
    option("--as-group NAME...: Group to impersonate.", name="impersonate_group"),
    option("--as-user-extra KEY=VALUE...: Extra user attribute to impersonate.", name="impersonate_user_extra"),
)

_OPTIONS = (
    option("--live: Read cluster facts from the live cluster that kubectl would use."),
    option(
        "--snapshot PATH...: Read cluster facts from a file or directory: a snapshot, or output of kubectl get -o yaml."
    ),
    option(
        "--topology SPEC: Use a made-up cluster: zones=3,nodes=2,cpu=4,memory=16Gi (nodes per zone), or a YAML file "
        "of node groups."
    ),
    option("--scheduler-config FILE: KubeSchedulerConfiguration file."),
    option(
        f"--kubernetes-version VERSION: Kubernetes version to follow, 1.{FIRST_MINOR} to 1.{LAST_MINOR}: 1.34 or "
        f"v1.34.2.  [default: the cluster's, else 1.{RECORDED_MINOR}]",
        read=_version,
    ),
    option(
        "--instance-types FILE: Instance types of NodePools, by the name of the pool or `*`.  [default: those of nodes]"
    ),
    option(
        "--karpenter-version VERSION: Karpenter version to follow: 1.13, 1.8.1.  [default: the cluster's, else 1.13]"
    ),
    option("--seed N: Choose randomly among nodes of equal score, the same way for the same N.", type=int, hidden=True),
    option("--all-nodes: Score every feasible node, also of 100 nodes or more.", hidden=True),
)


def cluster_facts(function: Any, *, hidden: Collection[str] = (), timeout: str = "0") -> Any:
    """Add the options that name a cluster; the command gets them as one argument, `source`, a ClusterSource.

    Args:
        function: the command.
        hidden: parameters that --help leaves out.
        timeout: the default of --request-timeout that --help shows; the command applies it.
    """
    facts = gather_options("source", ClusterSource, _OPTIONS, section=FACTS, hidden=hidden, listener=announce)
    return connection(facts(function), timeout=timeout)


def connection(function: Any, *, timeout: str = "0") -> Any:
    """Add the options of an API server and its user; the command gets them as `connection`.

    Args:
        function: the command.
        timeout: the default of --request-timeout that --help shows; the command applies it.
    """
    help_text = f"Time limit for each request: 5s, 1m30s; 0 is none.  [default: {timeout}]"
    options = (*_CONNECTION, option(f"--request-timeout DURATION: {help_text}"))
    return gather_options("connection", Flags, options, section=CONNECTION)(function)


def gather_options(
    name: str,
    record: Any,
    options: Sequence[Callable[[Any], Any]],
    *,
    section: str = "",
    hidden: Collection[str] = (),
    **more: object,
) -> Decorator:
    """Return a decorator that adds options, and gives the command their values as one argument.

    Args:
        name: the argument.
        record: a NamedTuple; it takes the parameters with the names of its fields away from the command.
        options: click's decorators.
        section: the section of --help for the options; empty for the command's own.
        hidden: parameters that --help leaves out.
        more: fields that are no parameters.
    """

    def decorate(function: Any) -> Any:
        @functools.wraps(function)
        def gathered(*args: Any, **kwargs: Any) -> Any:
            values = record(**{field: kwargs.pop(field) for field in record._fields if field in kwargs}, **more)
            return function(*args, **{name: values}, **kwargs)

        wrapped: Any = gathered
        for decorator in reversed(options):
            wrapped = decorator(wrapped)
            if section:
                wrapped.__click_params__[-1].section = section
            if wrapped.__click_params__[-1].name in hidden:
                wrapped.__click_params__[-1].hidden = True
        return wrapped

    return decorate


def answer_options(*formats: str) -> Decorator:
    """--details, -o FORMAT[=FILE] and --color; the command gets `output`, an Output.

    By default, the output is in the first of the formats.
    """

    def decorate(function: Any) -> Any:
        @functools.wraps(function)
        def styled(*args: Any, details: bool, color: str, output: Output, **kwargs: Any) -> Any:
            flags = as_words(kwargs["source"].connection._asdict())
            style = Style(width(_WIDTH), details, kubectl=shlex.join(("kubectl", *flags)))
            output = output._replace(colour=wants_colour(color) and not output.file, style=style)
            return function(*args, output=output, **kwargs)

        wrapped: Any = colour_option(styled)
        text = f"-o, --output: {', '.join(formats[1:-1])} or {formats[-1]}; =FILE writes a file."
        wrapped = option(text, type=FormatChoice(formats), default=formats[0])(wrapped)
        return option("--details: Print all evidence, and long lists in full.")(wrapped)

    return decorate


def kustomize_option(function: Any) -> Any:
    """Add the options -k and --allow-remote."""
    remote = option("--allow-remote: Let kustomize download remote bases.")
    return option("-k, --kustomize DIR...: Manifests that kubectl kustomize renders.")(remote(function))


targets_argument = click.argument(
    "targets", nargs=-1, shell_complete=complete.targets, metavar="[TYPE [NAME...] | TYPE/NAME...]"
)

_IN_NAMESPACES = "abcdefghijklmnopqrstuvwxyz0123456789-"


def namespace_option(text: str = "Namespace.  [default: context's, or the snapshot's]") -> Decorator:
    """-n, with its help text."""
    return option(f"-n, --namespace NAME: {text}", shell_complete=complete.namespaces, read=_namespace)


def _namespace(text: str) -> str:
    """Return a namespace; empty means the default one.

    Raises:
        ValueError: the API server would refuse to create a namespace with this name.
    """
    if text and (text.strip(_IN_NAMESPACES) or "-" in (text[0], text[-1]) or len(text) > 63):
        raise ValueError(
            f"{text!r} cannot be a namespace: a name has at most 63 lower-case letters, digits and '-', "
            "and begins and ends with a letter or digit."
        )
    return text


_EFFORTS = {"quick": 0.1, "normal": 1.0, "thorough": 10.0}

# The command gets `effort`, a factor of its usual limits. They are states: the answer is the same on every machine.
effort_option = option(
    "--effort LEVEL: quick, normal or thorough: x0.1, x1 or x10 states.",
    type=click.Choice(tuple(_EFFORTS)),
    default="normal",
    read=_EFFORTS.__getitem__,
)


def policy_option(text: str) -> Decorator:
    """--policy, with its help text; the command gets the policy."""
    return option(f"--policy FILE: {text}", read=_policy)


def _policy(path: str) -> Policy:
    from kubectl_spread.sources import policy_file

    return policy_file.load(path)


def colour_option(function: Any) -> Any:
    """Add --color, which `kubectl spread options` lists."""
    wrapped: Any = option("--color [auto|always|never]: Colour the output.", default="auto")(function)
    wrapped.__click_params__[-1].section = OUTPUT
    return wrapped


def wants_colour(choice: str) -> bool:
    """Return whether to use colour. As in kubectl, `auto` needs a terminal that is not dumb, and no NO_COLOR."""
    if choice != "auto":
        return choice == "always"
    return is_terminal() and os.environ.get("TERM") != "dumb" and "NO_COLOR" not in os.environ


class Output(NamedTuple):
    """A format and its file, standard output if that is empty; whether a text has colours, and its style."""

    format: str
    file: str = ""
    colour: bool = False
    style: Style = UNBROKEN


class FormatChoice(click.Choice):  # type: ignore[type-arg]
    """One of several formats, with a file if the output does not go to standard output."""

    def convert(self, value: Any, param: Optional[click.Parameter], ctx: Optional[click.Context]) -> Output:
        """Parse `FORMAT` or `FORMAT=FILE`."""
        if isinstance(value, Output):
            return value
        name, separator, file = str(value).partition("=")
        known = super().convert(name, param, ctx)
        if separator and not file:
            self.fail(f"no file is named: {value}", param, ctx)
        return Output(known, file)

    def get_metavar(self, *args: Any, **kwargs: Any) -> str:
        """Return `FORMAT[=FILE]`."""
        return "FORMAT[=FILE]"


DOCUMENTS = ("json", "yaml")  # formats of one document


def print_document(document: Any, form: str) -> None:
    """Print a document as JSON or YAML."""
    if form == "yaml":
        from kubectl_spread.text.scalars import emit

        click.echo(emit(document), nl=False)
        return
    from kubectl_spread.report.documents import dumps

    click.echo(dumps(document))


@contextlib.contextmanager
def redirect_output(output: Optional[Output]) -> Iterator[None]:
    """Write standard output to the file of an output, if it has one.

    Raises:
        SourceError: the file cannot be written; its old content is unchanged.
    """
    if output is None or not output.file:
        yield
        return
    held = io.StringIO()
    with contextlib.redirect_stdout(held):
        yield
    from kubectl_spread.sources.files import write

    write(output.file, held.getvalue().encode())


def page_source(known: Optional[LoadedCluster], style: Style = UNBROKEN) -> PageSource:
    """Return the origin of a page that is made now."""
    from datetime import datetime, timezone

    from kubectl_spread.report.pages.page import PageSource  # jinja2: 30 ms

    now = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    if known is None:
        return PageSource("", "", now)
    read_at = re.sub(r"T(\d\d:\d\d)\S*Z$", r" \1 UTC", known.cluster.read_at)
    return PageSource(known.name, known.version_words, now, read_at, style)


_MEANT = {  # what people type for a flag, by its meaning
    **dict.fromkeys(("--zones", "--nodes"), "--topology zones=3,nodes=2"),
    **dict.fromkeys(("--facts", "--cluster-file"), "--snapshot"),
    **dict.fromkeys(("--timeout", "--max-states", "--outcomes"), "--effort"),
    **dict.fromkeys(("--format", "--json", "--output-file"), "--output FORMAT=FILE"),
    **dict.fromkeys(("--port", "--address"), "--listen :9464"),
    "--max-share": "--at-most",
    "--hpa": "--replicas hpa",
}


def meant_flag(name: str, known: Collection[str]) -> str:
    """Return the flag that people mean with a name, if it is one of those that are known."""
    meant = _MEANT.get(name, "")
    return meant if meant.partition(" ")[0] in known else ""


class SectionedCommand(click.Command):
    """A click command that prints its options by section; an option without a section is the command's own.

    Its --help names the flags that `kubectl spread options` prints, so that it fits a screen.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments.

        Raises:
            UsageError: an option does not exist; the message names the one that was probably meant.
        """
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name
            known = {name for param in self.params for name in param.opts}
            meant = meant_flag(name, known) or nearest(name[2:], [item[2:] for item in known], cutoff=0.7)
            hint = f": did you mean `--{meant.removeprefix('--')}`?" if meant else ""
            raise click.UsageError(f"no such option '{name}'{hint}", ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. A wrong request is wrong usage of it, so that the message points to its help."""
        try:
            return super().invoke(ctx)
        except RequestError as error:
            raise click.UsageError(str(error), ctx) from None
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description, with the lists of exit codes and steps wrapped to the terminal."""
        import inspect  # 2 ms, and only --help needs it

        described, heading, rest = inspect.cleandoc(self.help or "").partition(f"{_AS_WRITTEN}{_COPIED}")
        examples, codes, more = rest.partition(f"{_AS_WRITTEN}Exit codes:")
        formatter.write_paragraph()
        with formatter.indentation():
            width = formatter.width - formatter.current_indent
            before, after = (
                "\n\n".join(_wrapped_list(item, width) for item in text.split("\n\n"))
                for text in (described, codes + more)
            )
            formatter.write_text(f"{before}{heading}{examples}{after}")

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter, sections: Sequence[str] = (_OWN, RULES)
    ) -> None:
        """Write the sections that have options."""
        for section in sections:
            records = (param.get_help_record(ctx) for param in self._params_of(section, ctx))
            rows = [row for row in records if row is not None and row[1]]  # an argument has a row without text
            if rows:
                with formatter.section(section):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a line that names the most important of the other flags."""
        names = [param.opts[-1] for param in self._params_of(FACTS, ctx)[:3]]
        names += ["--context" for _ in self._params_of(CONNECTION, ctx)[:1]]
        if names:
            formatter.write_paragraph()
            formatter.write_text(f"For {', '.join(names)} ...: kubectl spread options")

    def _params_of(self, section: str, ctx: click.Context) -> list[click.Parameter]:
        params = (param for param in self.get_params(ctx) if not getattr(param, "hidden", False))
        return [param for param in params if getattr(param, "section", _OWN) == section]


def _wrapped_list(paragraph: str, width: int) -> str:
    """Return a paragraph whose lines click keeps, with each line such as `  1  text` wrapped under its text."""
    if not paragraph.startswith(_AS_WRITTEN):
        return paragraph
    import textwrap  # 1 ms

    lines = []
    for line in paragraph.removeprefix(_AS_WRITTEN).splitlines():
        label = re.match(r"\s*\S+(?: \S+)*\s{2,}(?=\S)", line)
        indent = len(label.group()) if label is not None else len(line) - len(line.lstrip())
        text = textwrap.fill(
            line, width, subsequent_indent=" " * indent, break_on_hyphens=False, break_long_words=False
        )
        lines.append(text if len(line) > width else line)
    return _AS_WRITTEN + "\n".join(lines)
