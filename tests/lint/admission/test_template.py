"""Go templates are told from broken YAML."""

from __future__ import annotations

import pytest

from kubectl_spread.lint.check_source import check_source, first_action, SkipReason
from kubectl_spread.text.source import SourceFile


def action(text: str) -> str:
    """The first action of a text; empty where it has none."""
    span = first_action(text)
    return "" if span is None else text[span.start : span.end]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: {{ .Values.a }}", "{{ .Values.a }}"),
        ("{{- if .x -}}\n", "{{- if .x -}}"),
        ('{{ include "x" (dict\n  "a" 1\n) }}', '{{ include "x" (dict\n  "a" 1\n) }}'),
        ('{{ include "}}" (dict "a" "\\"}}") }}', '{{ include "}}" (dict "a" "\\"}}") }}'),
        ("{{ print `}}` }}", "{{ print `}}` }}"),
        ("{{- /* a {{ b }}\n*/ -}}\n{{ c }}", "{{- /* a {{ b }}\n*/ -}}"),
        ("{{/* a */}}", "{{/* a */}}"),
        ("# {{ a }}\nb: {{ c }}", "{{ c }}"),
        ("a: b # {{ c }}\nd: {{ e }}", "{{ e }}"),
        ("a: 'x {{ b }}'\nc: {{ d }}", "{{ d }}"),
        ('a: "x {{ b }}"\nc: {{ d }}', "{{ d }}"),
        ("it's: 1\na's: {{ d }}", "{{ d }}"),
        ("a#b: {{ c }}", "{{ c }}"),
        ('a: "{{ include "b" . }}"', '{{ include "b" . }}'),
        ("a: b\n{% if c %}\nd: e\n{% endif %}", "{% if c %}"),
        ("a: b\n<% if c %>\nd: e", "<% if c %>"),
        ("a: b\n%{ if c ~}\nd: e", "%{ if c ~}"),
        ("a: '{% b %}'\nc: {%- d -%}", "{%- d -%}"),
    ],
)
def test_the_first_action_outside_comments_and_quotes_is_the_place(text: str, expected: str) -> None:
    """An action may span lines and hold strings and comments; YAML's comments and quoted text hold none."""
    assert expected == action(text)


@pytest.mark.parametrize(
    "text",
    [
        "a: {b: c",
        "# {{ a }}",
        "a: '{{ b }}'",
        'a: "{{ b }}"',
        "a: {{ b",
        "a: {{b: {c: d} }",
        "a: {{ 'b }",
        "a: {% b",
        "a: <% b",
    ],
)
def test_what_has_no_action_is_no_template(text: str) -> None:
    """Braces that are closed once, or in quoted text, are YAML's."""
    assert "" == action(text)


@pytest.mark.parametrize(
    ("piece", "action"),
    [
        *((piece, None) for piece in ("{{", '{{ "{{ ', "{{ ` ", "{{ a", "{{ '", '{{ "a" `b` ', "{% ", "<% a")),
        ("{{/*", (0, 200_000)),
        ('"{{ a }} ', (10, 17)),
    ],
)
def test_a_text_with_many_begun_actions(piece: str, action: object) -> None:
    """However many actions are begun and not ended: a search that starts again at each would take hours."""
    assert first_action(piece * 50_000) == action


def test_a_template_has_one_finding() -> None:
    """However many of its documents do not parse."""
    text = "kind: Pod\nmetadata: {{ .a }}\n---\nkind: Pod\nspec: {topologySpreadConstraints: {{ .b }}}\n"
    (finding,) = check_source(SourceFile("f", text), named=True).findings

    assert ("SPR002", "{{ .a }}") == (finding.rule.code, text[slice(*finding.place.span)])


def test_a_template_without_constraints_has_no_finding() -> None:
    """It is counted all the same."""
    result = check_source(SourceFile("f", "kind: Pod\nmetadata: {{ .a }}\n"), named=True)

    assert ((), {SkipReason.TEMPLATE}) == (result.findings, result.skipped)
