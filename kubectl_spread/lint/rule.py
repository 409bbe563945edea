"""Declarations of rules: `@rule(...)` stands above the function that checks.

The page of a rule is `lint/pages/<code>-<name>.md`.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from kubectl_spread.lint.finding import RuleFinding, RuleMeta, RuleTarget, Safety, Severity

CLUSTER_AUTOSCALER, KARPENTER = "cluster-autoscaler", "karpenter"
SAFE, UNSAFE = frozenset({Safety.SAFE}), frozenset({Safety.UNSAFE})
EITHER = SAFE | UNSAFE
SCHEDULER = ("KubeSchedulerConfiguration",)

# Of a subject for a rule about workloads, of (manifest, project) for one about other objects.
Check = Callable[..., Iterator[RuleFinding]]


DECLARED: list[RuleMeta] = []
CHECKS: dict[str, Check] = {}  # by code


def rule(
    code: str,
    summary: str,
    severity: Severity = Severity.ERROR,
    *,
    kinds: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
    needs_constraints: bool = True,
    **declared: Any,
) -> Callable[[Check], Check]:
    """Declare a rule about workloads, or about other objects of some kinds; see `RuleMeta` for `declared`.

    Its function has the name of the rule, and gets a `Subject`, or a `Manifest` and a `Project`.
    """
    words = frozenset(kinds or ("topologySpreadConstraints",) * needs_constraints + needs)
    target = RuleTarget.AROUND if kinds else RuleTarget.WORKLOAD

    def declare(check: Check) -> Check:
        name = check.__name__.replace("_", "-")
        DECLARED.append(RuleMeta(code, name, summary, severity, target, words, **declared))
        CHECKS[code] = check
        return check

    return declare


def documentation(rule: RuleMeta) -> str:
    """Return the page of a rule, as Markdown with indented examples."""
    path = os.path.join(os.path.dirname(__file__), "pages", f"{rule.code}-{rule.name}.md")
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


def search(text: str, rules: Iterable[RuleMeta]) -> list[RuleMeta]:
    """Return the rules that have words of a text in their code, name, summary or page, the best first.

    A rare word weighs more than a frequent one, and four times as much outside the page. A word also matches a longer
    word that begins with it: `cordon` finds `cordoned`.
    """
    texts = {rule: (f"{rule.code} {rule.name} {rule.summary}".lower(), documentation(rule).lower()) for rule in rules}
    scores = dict.fromkeys(texts, 0.0)
    for word in set(re.findall(r"[a-z][a-z0-9]+", text.lower())):
        pattern = re.compile(rf"\b{word}\b" if len(word) < 4 else rf"\b{word.removesuffix('s')}")
        matches = {
            rule: 4 if pattern.search(title) else 1
            for rule, (title, page) in texts.items()
            if pattern.search(title) or pattern.search(page)
        }
        for rule, weight in matches.items():
            scores[rule] += weight * max(math.log(len(texts) / len(matches)), 0.05)
    best = max(scores.values(), default=0.0)
    ranked = [rule for rule in texts if scores[rule] > 0 and scores[rule] >= 0.4 * best]
    return sorted(ranked, key=lambda rule: (-scores[rule], rule.code))
