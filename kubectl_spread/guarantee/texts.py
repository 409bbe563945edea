"""Rules as texts: read from options such as `--less-than zone=1/2`, and written as phrases for every output."""

from __future__ import annotations

import re
from typing import Optional

from kubectl_spread.guarantee.evaluate import Evaluation
from kubectl_spread.guarantee.policy import Amount, PolicyRule, RuleKind
from kubectl_spread.objects.keys import Range
from kubectl_spread.objects.selectors import domain_noun, HOSTNAME, key_errors, REGION, ZONE
from kubectl_spread.text.wording import comma_list, count_noun, did_you_mean, short

SHORT_KEYS = {"zone": ZONE, "hostname": HOSTNAME, "region": REGION, "node": HOSTNAME}
LONG_KEYS = {ZONE: "zone", HOSTNAME: "hostname", REGION: "region"}
_MOST = 9_999_999
_FRACTION = re.compile(r"([0-9]{1,7})\s*/\s*([0-9]{1,7})\Z")
_PERCENT = re.compile(r"([0-9]{1,3})%\Z")


class PolicyTextError(ValueError):
    """A text is not a rule; `str()` says why, and what to write."""


def topology_key(text: str) -> str:
    """Return a topology key; `zone`, `hostname` and `region` are short for the well-known labels.

    Raises:
        PolicyTextError: it is not a label key.
    """
    if text in SHORT_KEYS:
        return SHORT_KEYS[text]
    errors = key_errors(text)
    if errors:
        raise PolicyTextError(f"{short(text) or 'the empty text'} is not a label key: {errors[0]}")
    near = did_you_mean(text, [*SHORT_KEYS, *LONG_KEYS], cutoff=0.75)
    if near and text not in LONG_KEYS and "/" not in text:
        raise PolicyTextError(
            f"{short(text)} is neither zone, node or region nor a label such as example.com/rack; {near}"
        )
    return text


def short_key(key: str) -> str:
    """Return the short name of a well-known topology key, or the key itself."""
    return LONG_KEYS.get(key, key)


def at_most(text: str) -> PolicyRule:
    """Return the rule of `KEY=1/3`: no domain holds more than this share of the pods."""
    return _share(text, "--at-most")


def less_than(text: str) -> PolicyRule:
    """Return the rule of `KEY=1/3`: every domain holds less than this share of the pods."""
    return _share(text, "--less-than", sign="<")


def _share(text: str, option: str, *, sign: str = "") -> PolicyRule:
    """Return the rule of `KEY=SHARE`. A bare number is refused, as `zone=1` could mean one pod or all pods.

    Raises:
        PolicyTextError: the text has another form.
    """
    key, equals, share = (part.strip() for part in text.partition("="))
    if not (key and equals and share) or share.startswith(("<", "=")):
        raise PolicyTextError(f"{short(text) or 'the empty text'} is not KEY=SHARE: write {option} zone=1/2")
    if _number(share) is not None:
        raise PolicyTextError(f"{share} is no share: write {option} {key}=1/2, or --max-count {key}={share} for pods")
    return share_of(key, sign + share)


def share_of(key: str, text: str) -> PolicyRule:
    """Return the rule of a key and a share such as `<1/3`; without a sign or with `=` it is `at most`.

    Raises:
        PolicyTextError: it is not a share.
    """
    bare = text.strip()
    is_strict = bare.startswith(("<", "=<")) and not bare.startswith(("<=", "=<="))
    found = amount(bare.lstrip("<= "), "1/3, 50% or 4")
    if found.is_quorum:
        raise PolicyTextError("quorum is for --keep; a share is a fraction, a percentage or a count, such as 1/2")
    if is_strict and not found.numerator:
        raise PolicyTextError(f"no number of pods is less than {short(found.text)}: write a share such as 1/3")
    return PolicyRule(RuleKind.MAX_SHARE, topology_key(key), found, is_strict)


def _number(text: str) -> Optional[int]:
    """Return a number; None if the text is none.

    Raises:
        PolicyTextError: it is too large.
    """
    if not re.match(r"[0-9]+\Z", text):
        return None
    if len(text) > len(str(_MOST)):
        raise PolicyTextError(f"{short(text)}: the largest number is {_MOST:,}")
    return int(text)


def amount(text: str, example: str) -> Amount:
    """Return a fraction, a percentage, a count or `quorum`.

    Raises:
        PolicyTextError: it is none of them; `example` is what to write.
    """
    if text == "quorum":
        return Amount(1, 2, is_quorum=True, text=text)
    number = _number(text)
    if number is not None:
        return Amount(number, text=text)
    percent = _PERCENT.match(text)
    if percent is not None:
        if int(percent[1]) > 100:
            raise PolicyTextError(f"{text} is not a share: write at most 100%")
        return Amount(int(percent[1]), 100, text=text)
    fraction = _FRACTION.match(text)
    if fraction is None:
        near = did_you_mean(text, ["quorum"])
        raise PolicyTextError(
            f"{short(text) or 'the empty text'} is neither a share nor a number of pods: {near or f'write {example}'}"
        )
    top, bottom = int(fraction[1]), int(fraction[2])
    if not bottom or top > bottom:
        raise PolicyTextError(f"{short(text)} is not a share: write a fraction between 0 and 1, such as 1/3")
    return Amount(top, bottom, text=f"{top}/{bottom}")


def key_and_number(text: str, *, option: str) -> tuple[str, int]:
    """Return key and number of `KEY=N`.

    Raises:
        PolicyTextError: the text has another form; `option` is its name in the message.
    """
    key, _, written = text.partition("=")
    number = _number(written.strip())
    if number is None:
        raise PolicyTextError(f"{short(text) or 'the empty text'} is not KEY=N: write {option} zone=3")
    return topology_key(key.strip()), number


def max_count(text: str) -> PolicyRule:
    """Return the rule of `KEY=N`: a domain holds at most N pods."""
    key, number = key_and_number(text, option="--max-count")
    return PolicyRule(RuleKind.MAX_COUNT, key, Amount(number, text=str(number)))


def min_domains(text: str) -> PolicyRule:
    """Return the rule of `KEY=K`: the pods use at least K domains."""
    key, number = key_and_number(text, option="--min-domains")
    if not number:
        raise PolicyTextError("0 domains are always used: write --min-domains zone=3")
    return PolicyRule(RuleKind.MIN_DOMAINS, key, Amount(number, text=str(number)))


def separate(text: str) -> PolicyRule:
    """Return the rule of `KEY`: the pods of one owner are in different domains."""
    return PolicyRule(RuleKind.SEPARATE, topology_key(text.strip()), Amount(1, text="1"))


def survive(text: str, keep: Optional[str]) -> PolicyRule:
    """Return the rule of `KEY[=N]` and the pods to keep.

    Raises:
        PolicyTextError: one of the texts has another form, or the pods to keep are missing.
    """
    if keep is None:
        raise PolicyTextError(f"--survive {short(text)} needs --keep: the pods that must be left, as quorum, 50% or 2")
    key, equals, number = text.partition("=")
    lost = _number(number) if equals else 1
    if not lost:
        raise PolicyTextError(f"{short(text)} is not KEY or KEY=N: write --survive zone or --survive zone=2")
    return PolicyRule(RuleKind.SURVIVE, topology_key(key.strip()), amount(keep, "quorum, 50% or 2"), lost=lost)


def shards(text: str) -> Range:
    """Return the range of the number of workloads.

    Raises:
        ValueError: it is none, or has no workload.
    """
    found = Range.of_text(text, noun="shards", most=100)
    if not found.least:
        raise PolicyTextError(f"{short(text)} has no workload: write 1..{max(1, found.most)}")
    return found


def preposition(key: str) -> str:
    """Return `on` for nodes, `in` for other domains."""
    return "on" if key == HOSTNAME else "in"


def rule_text(rule: PolicyRule, *, is_now: bool = False) -> str:
    """Return a rule as a phrase: `less than 1/3 of the pods on one node`.

    Proofs judge two kinds of rules only where all pods have a node; `is_now`: the rule is about the running pods.
    """
    key, amount = rule.topology_key, rule.amount
    when = "" if is_now else ", if all have a node"
    where = f"{preposition(key)} one {domain_noun(key)}" if key else ""
    if rule.kind is RuleKind.MAX_SHARE:
        sign = "less than" if rule.is_strict else "at most"
        what = f"{amount.text} of the pods" if amount.denominator else f"{amount.text} pods"
        return f"{sign} {what} {where}"
    if rule.kind is RuleKind.MAX_COUNT:
        return f"at most {count_noun(amount.numerator, 'pod')} {where}"
    if rule.kind is RuleKind.MIN_DOMAINS:
        least = f"at least {amount.numerator} {domain_noun(key, plural=amount.numerator > 1)}"
        return f"pods {preposition(key)} {least}{when}"
    if rule.kind is RuleKind.SEPARATE:
        return f"pods of one workload {preposition(key)} different {domain_noun(key, plural=True)}"
    if rule.kind is RuleKind.SURVIVE:
        kept = "a quorum" if amount.is_quorum else f"{amount.text} of the pods"
        kept = count_noun(amount.numerator, "pod") if not amount.denominator else kept
        return f"{kept} left after losing {rule.lost} {domain_noun(key, plural=rule.lost > 1)}{when}"
    lost = f" while {rule.lost} {domain_noun(key, plural=rule.lost > 1)} {'are' if rule.lost > 1 else 'is'} lost"
    return f"every pod finds a node{lost if key else ''}"


def violation_text(result: Evaluation, *, waiting: Optional[int] = None) -> str:
    """Return a violation with its numbers; `waiting`: pods that stay Pending, if that is the violation."""
    if waiting is not None:
        return f"{count_noun(waiting, 'pod')} {'stays' if waiting == 1 else 'stay'} Pending"
    key = result.rule.topology_key
    is_one = len(result.domains) == 1
    where = f"{domain_noun(key, plural=not is_one)} {comma_list(result.domains, most=3)}"
    holds, each = ("holds", "") if is_one else ("hold", " each")
    if result.rule.kind in (RuleKind.MAX_SHARE, RuleKind.MAX_COUNT):
        held = f"{result.number} of {count_noun(result.pods, 'pod')}{each}"
        return f"{where} {holds} {held}; {result.limit} allowed"
    if result.rule.kind is RuleKind.MIN_DOMAINS:
        return f"the pods use {count_noun(result.number, domain_noun(key))}; at least {result.limit} required"
    if result.rule.kind is RuleKind.SEPARATE:
        name = "" if result.owner is None else f" of {result.owner.name}"
        return f"{where} {holds} {result.number} pods{name}{each}"
    return f"without {where}, {count_noun(result.number, 'pod')} would be left; {result.limit} required"
