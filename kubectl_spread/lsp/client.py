"""Capabilities of the client."""

from __future__ import annotations

from typing import NamedTuple

from lsprotocol import types
from pygls.capabilities import get_capability


class Client(NamedTuple):
    """The capabilities of a client: its unit of columns, and the parts of the protocol that it supports."""

    encoding: str = "utf-16"
    has_related: bool = False  # places besides the finding's own
    has_versions: bool = False  # edits that say which version of a document they are for
    has_markdown: bool = False


def client_of(capabilities: types.ClientCapabilities, encoding: str) -> Client:
    """Return the capabilities of a client, with the agreed encoding."""
    formats = get_capability(capabilities, "text_document.hover.content_format") or ()
    return Client(
        encoding,
        bool(get_capability(capabilities, "text_document.publish_diagnostics.related_information")),
        bool(get_capability(capabilities, "workspace.workspace_edit.document_changes")),
        types.MarkupKind.Markdown in formats,
    )
