"""The frame of every page: templates, style sheet and script in one file, under a policy that allows nothing else.

The Content-Security-Policy names the style sheet and the script by their SHA-256, so the browser ignores any other.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.resources
from typing import Any, NamedTuple, TYPE_CHECKING

from kubectl_spread import __version__
from kubectl_spread.report.table import Style
from kubectl_spread.text.wording import safe

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup


class PageSource(NamedTuple):
    """The origin of a page: the cluster, the Kubernetes version to follow, and the time.

    read_at: when the cluster facts were read. If it is empty, the page shows the time of the run. style: decides which
    flags the page's commands have.
    """

    cluster: str = ""
    version: str = ""
    time: str = ""
    read_at: str = ""
    style: Style = Style()


def render(template: str, source: PageSource, *, script: str = "", **values: Any) -> str:
    """Return a page.

    Args:
        template: the name of its template.
        source: shown at the top.
        script: the name of a file in the folder of templates; empty for a page without a script.
        values: for the template; `title` is the title of the page.
    """
    from markupsafe import Markup

    style = _file("style.css")
    code = _file(script) if script else ""
    policy = ["default-src 'none'", f"style-src 'sha256-{_sha256(style)}'"]
    policy += [f"script-src 'sha256-{_sha256(code)}'"] if code else []
    return (
        _environment()
        .get_template(template)
        .render(
            source=source,
            version=__version__,
            policy="; ".join([*policy, "base-uri 'none'", "form-action 'none'"]),
            style=Markup(style),  # noqa: S704 (our own file)
            script=Markup(code),  # noqa: S704
            **values,
        )
    )


@functools.cache
def _environment() -> jinja2.Environment:
    """Return the environment of the templates; it compiles each template once."""
    import jinja2  # 30 ms

    environment = jinja2.Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.FunctionLoader(_file),
    )
    environment.filters["safe_text"] = safe_text
    environment.filters["command"] = lambda line, source: source.style.command(line)
    environment.filters["coded"] = _coded
    return environment


def _coded(value: object) -> Markup:
    """Return a text in which code is between backticks."""
    from markupsafe import Markup

    parts = (safe_text(part) for part in str(value).split("`"))
    code = Markup("<code>{}</code>")
    return Markup("").join(code.format(part) if at % 2 else part for at, part in enumerate(parts))


# A page may go to the log of a CI job. Systems take a line that begins with `::` or has `##[` for a command.
_REFERENCES = {"\n": "&#10;", "::": "&#58;:", "##": "&#35;#"}


def safe_text(value: object) -> Markup:
    """Return text without control characters. Lines stay lines in a browser, but begin no line of the file."""
    from markupsafe import escape, Markup

    text = str(escape("\n".join(map(safe, str(value).split("\n")))))
    for written, reference in _REFERENCES.items():
        text = text.replace(written, reference)
    return Markup(text)  # noqa: S704 (escaped above)


def _file(name: str) -> str:
    return (importlib.resources.files(__package__) / "templates" / name).read_text(encoding="utf-8")


def _sha256(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
