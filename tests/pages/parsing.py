"""The tags and the text of a page."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

from kubectl_spread.report.check.formats import HOME

VOID = {"meta", "br", "input", "rect", "line"}


class Page(HTMLParser):
    """The tags of a page with their attributes, its text, and the tags that nothing closes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.open: list[str] = []
        self._is_hidden = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.text += f"{data} "

    @property
    def words(self) -> str:
        """The text with single spaces."""
        return " ".join(self.text.split())


def assert_is_closed_off(text: str, *, has_script: bool = False) -> Page:
    """Assert that a page fetches nothing, and that its policy allows its own style and script and nothing else."""
    page = Page(text)
    assert page.open == []
    tags = [tag for tag, _ in page.tags]
    assert tags.count("script") == int(has_script)
    assert {"link", "img", "iframe", "object", "embed", "base", "form"}.isdisjoint(tags)
    attributes = {name for _, attrs in page.tags for name in attrs}
    links = [attrs["href"] for _, attrs in page.tags if "href" in attrs]
    assert not [link for link in links if not str(link).startswith(("#w", f"{HOME}/blob/main/kubectl_spread/lint/"))]
    assert {"src", "srcset", "action", "style"}.isdisjoint(attributes)
    assert not [name for name in attributes if name.startswith("on")]
    assert "url(" not in text
    assert "@import" not in text
    (policy,) = (attrs["content"] for tag, attrs in page.tags if "http-equiv" in attrs)
    hashes = {
        name: base64.b64encode(hashlib.sha256(found.encode()).digest()).decode()
        for name in ("style", "script")
        for found in re.findall(f"<{name}>(.*?)</{name}>", text, re.DOTALL)
    }
    script = f"; script-src 'sha256-{hashes['script']}'" if has_script else ""
    style = f"style-src 'sha256-{hashes['style']}'"
    assert policy == f"default-src 'none'; {style}{script}; base-uri 'none'; form-action 'none'"
    return page
