"""Placeholders: values that another tool fills in before the manifest is applied.

```
replicas: ${REPLICAS:=2}      envsubst, Flux          maxSkew: "{{ skew }}"    Jinja, Go
replicas: $(REPLICAS)         kustomize, Tekton       app: <%= name %>         ERB
replicas: __REPLICAS__        sed                     maxSkew: #@ skew         ytt, in a comment
replicas: <REPLICAS>          sed                     replicas: ($replicas)    Chainsaw
app: APP_NAME                 people                  tolerations: {TOLERATIONS: ""}
```
"""

from __future__ import annotations

import re
from typing import Any

from kubectl_spread.text.source import Place
from kubectl_spread.text.wording import nearest

# The last word of `APP_NAME` names a field; `FRONT_END` and `DO_NOT_SCHEDULE` are values.
_FIELDS = ("_NAME", "_NAMESPACE", "_KEY", "_SKEW", "_DOMAINS", "_REPLICAS", "_COUNT", "_IMAGE", "_TAG", "_VERSION")
_MARKS = ("${", "$(", "{{", "{%", "<%")
_KEY = r"[\w./-]+:\s"
_IN_A_COMMENT = r"[ \t]*:?[ \t]+#(?:@|\{)"  # compiled on first use


def has_placeholder(value: Any) -> bool:
    """Return whether a text has a part that is not what will be applied."""
    if not isinstance(value, str):
        return False
    is_word = value[:1] == "$" or value[:1] + value[-1:] in ("<>", "()") or value[:2] == value[-2:] == "__"
    is_word |= value.isupper() and value.endswith(_FIELDS)
    return is_word or any(mark in value for mark in _MARKS)


def stands_for(value: Any, words: tuple[str, ...] = ()) -> bool:
    """Return whether a value that its field refuses is a placeholder, as `IMAGE`, `{username}` or `{TOLERATIONS: ""}`.

    In capitals, a value near one of the field's words is a mistake, as `DO_NOT_SCHEDULE`.
    """
    if isinstance(value, dict) and len(value) == 1:
        ((name, content),) = value.items()
        return content is None or (content == "" and stands_for(name))
    if not isinstance(value, str) or re.fullmatch(r"[A-Z][A-Z0-9_]*", value) is None:
        return has_placeholder(value)
    return not nearest(value.replace("_", ""), words, cutoff=0.5)


def is_filled_in(place: Place) -> bool:
    """Return whether a place is the place of a placeholder; a line with a key is not."""
    text, span = place.source.text, place.span
    written = text[span.start : span.end]
    if has_placeholder(written.strip("\"'")) and not re.match(_KEY, written):
        return True
    rest = text[span.end : text.find("\n", span.end) + 1 or None]
    return "#" in rest and re.match(_IN_A_COMMENT, rest) is not None
