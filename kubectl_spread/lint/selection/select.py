"""Selection of rules by code, prefix of a code, or name."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Optional

from kubectl_spread.lint.finding import Severity
from kubectl_spread.lint.registry import RULES


class RuleProfile(Enum):
    """The rules to begin with."""

    MINIMAL = "minimal"  # the default rules with severity error
    DEFAULT = "default"  # all rules that are not opinions
    STRICT = "strict"  # all

    @property
    def codes(self) -> frozenset[str]:
        if self is RuleProfile.STRICT:
            return frozenset(RULES)
        is_minimal = self is RuleProfile.MINIMAL
        return frozenset(
            code
            for code, rule in RULES.items()
            if not rule.is_opinion and (rule.severity is Severity.ERROR or not is_minimal)
        )

    def codes_for(self, autoscaler: str) -> frozenset[str]:
        """Return the profile's codes for a cluster with this autoscaler; empty if it is unknown.

        Unless the profile is minimal, opinions about the autoscaler are included. Opinions about others are not.
        """
        if self is RuleProfile.MINIMAL or not autoscaler:
            return self.codes
        general = frozenset(code for code in self.codes if not RULES[code].autoscalers)
        return general | {code for code, rule in RULES.items() if autoscaler in rule.autoscalers}


class UnknownRuleError(Exception):
    """A word that names no rule."""

    def __init__(self, word: str) -> None:
        super().__init__(word)
        self.word = word

    def __str__(self) -> str:
        from kubectl_spread.text.wording import did_you_mean, short

        near = did_you_mean(self.word, (*RULES, *(rule.name for rule in RULES.values())))
        return f"no rule is called `{short(self.word)}`" + (f": {near}" if near else "")


def selected_codes(
    select: Iterable[str],
    ignore: Iterable[str],
    extend: Iterable[str] = (),
    *,
    base: Optional[frozenset[str]] = None,
) -> frozenset[str]:
    """Return the codes of the rules to run: the selected ones, or the base, without the ignored ones.

    If two words name a rule, the longer one counts: `--ignore SPR2 --select SPR201` runs SPR201.

    Args: select: codes, prefixes or names, several in one by commas; `ALL` is every rule. ignore: the same. extend: the
        same, for rules to run in addition. base: codes; without it, all rules that are not opinions.

    Raises:
        UnknownRuleError: a word names no rule.
    """
    wanted, unwanted, more = _weights(select), _weights(ignore), _weights(extend)
    if not wanted:
        wanted = dict.fromkeys(RuleProfile.DEFAULT.codes if base is None else base, 0)
    wanted = {code: max(wanted.get(code, -1), more.get(code, -1)) for code in (*wanted, *more)}
    return frozenset(code for code, weight in wanted.items() if weight > unwanted.get(code, -1))


def severities(choices: Iterable[tuple[str, Severity]]) -> dict[str, Severity]:
    """Return severities by code; the longest word that names a rule wins, then the last one.

    Raises:
        UnknownRuleError: a word names no rule.
    """
    found: dict[str, tuple[int, Severity]] = {}
    for word, severity in choices:
        for code, weight in _weights([word]).items():
            if code not in found or weight >= found[code][0]:
                found[code] = (weight, severity)
    return {code: severity for code, (_, severity) in found.items()}


def named_codes(words: Iterable[str]) -> frozenset[str]:
    """Return the codes of the rules that words name.

    Raises:
        UnknownRuleError: a word names no rule.
    """
    return frozenset(_weights(words))


def _weights(words: Iterable[str]) -> dict[str, int]:
    """Return the length of the longest word that names a rule, by code; a name or code is the longest."""
    weights: dict[str, int] = {}
    for word in (part.strip() for given in words for part in given.split(",")):
        if not word:
            continue
        codes = [code for code, rule in RULES.items() if _names(word, code, rule.name)]
        if not codes:
            raise UnknownRuleError(word)
        weight = 0 if word.upper() == "ALL" else len(word) if word.upper() not in RULES else 99
        for code in codes:
            weights[code] = max(weights.get(code, 0), 99 if word == RULES[code].name else weight)
    return weights


def _names(word: str, code: str, name: str) -> bool:
    return word.upper() == "ALL" or word == name or (word.upper().startswith("S") and code.startswith(word.upper()))
