"""Templates of Go, Jinja, ERB and Terraform, which are not YAML until they are rendered.

Source: text/template/parse lex.go: an action may span lines, and hold quoted strings and comments with braces.
"""

from __future__ import annotations

import re
from typing import Optional

from kubectl_spread.text.source import Span

# Each alternative matches in one way only, so that a long text costs no more than its length.
_COMMENT = r"(?<!\S)#[^\n]*"
_SINGLE_QUOTED = r"(?<!\w)'[^'\n]*'"
# `"{{ include "web.name" . }}"` is not quoted text in YAML, and does not parse: an action must end before the quote.
_DOUBLE_QUOTED = r'(?<!\w)"(?:[^"\\\n{]|\\.|\{(?!\{)|\{\{[^"\n{}]*\}\})*"'
_ACTION_COMMENT = r"\{\{-?\s*/\*.*?(?:\*/\s*-?\}\}|\Z)"
_ACTION = r'\{\{(?:[^"`{}]|"(?:[^"\\\n]|\\.)*"|`[^`]*`|\{(?!\{)|\}(?!\}))*\}\}'
_STATEMENT = r"\{%[^%{}\n]*%\}|<%[^%<>\n]*%>|%\{[^%{}\n]*\}"


_OF_CHART = r"\{\{[^{}]*(?:\.(?:Values|Release|Chart|Capabilities|Files|Template)\b|\binclude\s+\"|\btpl\s)"


def is_of_chart(text: str) -> bool:
    """Return whether a template asks for what only Helm provides: Jinja, chezmoi and others have `{{`, too."""
    return re.search(_OF_CHART, text) is not None


def first_action(text: str) -> Optional[Span]:
    """Return the place of the first action outside comments and quoted text; None if there is none."""
    actions = [_ACTION_COMMENT, _ACTION] if "{{" in text else []
    if any(mark in text for mark in ("{%", "<%", "%{")):
        actions.append(_STATEMENT)
    if not actions:
        return None
    # Needed only after a parse error, so not compiled on import.
    tokens = re.compile(f"{_COMMENT}|{_SINGLE_QUOTED}|{_DOUBLE_QUOTED}|(?P<action>{'|'.join(actions)})", re.DOTALL)
    match = next((match for match in tokens.finditer(text) if match["action"]), None)
    return Span(match.start(), match.end()) if match else None
