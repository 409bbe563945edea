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
        text = "\0".join((finding.rule.code, finding.place.source.name, *finding.object, finding.path))
        seen[text] += 1
        digests.append(hashlib.sha256(f"{text}\0{seen[text]}".encode()).hexdigest()[:32])
    return digests
