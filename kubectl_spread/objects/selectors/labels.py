"""The syntax of label keys and values, in the API server's words.

Source: staging/src/k8s.io/apimachinery/pkg/api/validate/content/kube.go, dns.go (v1.36.2).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

Labels = Mapping[str, str]

_AT_THE_ENDS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_BETWEEN = "".join(_AT_THE_ENDS) + "-_."
_SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z"  # compiled on first use

_NAME_FORM = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_VALUE_FORM = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
    "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_SUBDOMAIN_FORM = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_KEY_FORM = f"a valid label key {_NAME_FORM} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"

ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
HOSTNAME = "kubernetes.io/hostname"
OS = "kubernetes.io/os"
NAMESPACE_NAME = "kubernetes.io/metadata.name"


def key_errors(key: str) -> list[str]:
    """Return the errors of a label key, in order; empty if it is valid."""
    prefix, slash, name = key.partition("/")
    if "/" in name:
        return [_KEY_FORM]
    errors = []
    if not slash:
        name = prefix
    elif not prefix:
        errors.append("prefix part must be non-empty")
    else:
        errors += [f"prefix part {error}" for error in subdomain_errors(prefix)]
    if not name:
        errors.append("name part must be non-empty")
    elif len(name.encode()) > 63:
        errors.append("name part must be no more than 63 bytes")
    if not _is_name(name):
        errors.append(f"name part {_NAME_FORM}")
    return errors


def value_errors(value: str) -> list[str]:
    """Return the errors of a label value, in order; empty if it is valid."""
    errors = []
    if len(value.encode()) > 63:
        errors.append("must be no more than 63 bytes")
    if value and not _is_name(value):
        errors.append(_VALUE_FORM)
    return errors


def _is_name(text: str) -> bool:
    """Return whether all characters of a text are allowed; at start-up this is faster than to compile a pattern."""
    return text[:1] in _AT_THE_ENDS and text[-1:] in _AT_THE_ENDS and not text.strip(_BETWEEN)


def subdomain_errors(text: str) -> list[str]:
    """Return the errors of an object's name, or of a label key's prefix, in order; empty if it is valid."""
    errors = []
    if len(text.encode()) > 253:
        errors.append("must be no more than 253 bytes")
    if re.match(_SUBDOMAIN, text) is None:
        errors.append(_SUBDOMAIN_FORM)
    return errors
