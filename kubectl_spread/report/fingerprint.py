"""A name for a finding that stays the same while lines move."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable

from kubectl_spread.lint.finding import Finding


def fingerprints(findings: Iterable[Finding]) -> list[str]:
    """By position: a digest of rule, file, object and field; equal ones are numbered."""
    seen: Counter[str] = Counter()
    digests = []
    for finding in findings:
        text = "\0".join(identity(finding, finding.place.source.name))
        seen[text] += 1
        digests.append(hashlib.sha256(f"{text}\0{seen[text]}".encode("utf-8", "surrogatepass")).hexdigest()[:32])
    return digests


def identity(finding: Finding, file: str) -> tuple[str, ...]:
    """What stays the same while lines move: rule, file, kind, namespace and name of the object, field."""
    return (finding.rule.code, file, *finding.object, finding.path)
