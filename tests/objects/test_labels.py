"""The syntax of label keys and values."""

from __future__ import annotations

import pytest

from kubectl_spread.objects.selectors import key_errors, value_errors

NAME = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
PREFIX = (
    "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and "
    "must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
TWO_SLASHES = (
    "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. "
    "'example.com/MyName')"
)
NAME_EMPTY = "name part must be non-empty"
NAME_LONG = "name part must be no more than 63 bytes"
PREFIX_EMPTY = "prefix part must be non-empty"
PREFIX_LONG = "prefix part must be no more than 253 bytes"


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("a", []), ("A9", []), ("my.name", []), ("my_name-1", []), ("a" * 63, []), ("example.com/a", []),
        ("kubernetes.io/hostname", []), ("1.2.3/x", []), ("a" * 253 + "/x", []),
        ("", [NAME_EMPTY, NAME]),
        ("a b", [NAME]), ("-a", [NAME]), ("a-", [NAME]), (".a", [NAME]), ("a_", [NAME]), ("é", [NAME]), ("a\n", [NAME]),
        ("a" * 64, [NAME_LONG]), ("-" + "a" * 63, [NAME_LONG, NAME]), ("é" * 32, [NAME_LONG, NAME]),
        ("/a", [PREFIX_EMPTY]), ("/", [PREFIX_EMPTY, NAME_EMPTY, NAME]), ("example.com/", [NAME_EMPTY, NAME]),
        ("Example.com/a", [PREFIX]), ("a_b/c", [PREFIX]), ("-a.b/c", [PREFIX]), ("a..b/c", [PREFIX]),
        ("a" * 254 + "/x", [PREFIX_LONG]), ("A" * 254 + "/ ", [PREFIX_LONG, PREFIX, NAME]),
        ("a/b/c", [TWO_SLASHES]), ("//", [TWO_SLASHES]),
    ],
)  # fmt: skip
def test_a_label_key_is_a_name_with_an_optional_prefix(key: str, expected: list[str]) -> None:
    """Errors of the prefix come first; more than one slash is one error."""
    assert expected == key_errors(key)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", []), ("a", []), ("my_value.1-2", []), ("a" * 63, []),
        ("a b", [VALUE]), ("-a", [VALUE]), ("a.", [VALUE]), ("a/b", [VALUE]), ("é", [VALUE]), ("a\n", [VALUE]),
        ("a" * 64, ["must be no more than 63 bytes"]),
        ("-" * 64, ["must be no more than 63 bytes", VALUE]),
    ],
)  # fmt: skip
def test_a_label_value_is_63_bytes_of_a_name_or_nothing(value: str, expected: list[str]) -> None:
    """Both what is too long and what is malformed is said."""
    assert expected == value_errors(value)
