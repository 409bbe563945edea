"""Rules ranked by how well their words match a message."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from kubectl_spread.lint.finding import RuleMeta
from kubectl_spread.lint.rule_search.vocabulary import RuleWords, words, words_of

_OF_TITLE, _OF_MESSAGE, _OF_PAGE = 4.0, 2.0, 1.0
_OF_PAIR = 3.0  # two words that follow each other in a message
_OF_FREQUENT_PAIR = 0.1  # added, so that a pair of frequent words counts as well
_SHORTEST_BEGINNING = 4  # letters
_LEAST_OF_BEST = 0.4  # rules with a smaller part of the best score are left out
_LEAST_WEIGHT = 0.05  # of a word that is in every rule


class RankedRule(NamedTuple):
    """A rule and its score; higher is better."""

    rule: RuleMeta
    score: float


class Vocabulary(NamedTuple):
    """The words of one rule as sets, and the pairs of words that follow each other in its messages."""

    title: frozenset[str]
    messages: frozenset[str]
    page: frozenset[str]
    pairs: frozenset[tuple[str, str]]

    @property
    def all_words(self) -> frozenset[str]:
        return self.title | self.messages | self.page

    @classmethod
    def of(cls, rule: RuleWords) -> Vocabulary:
        return cls(
            frozenset(rule.title),
            frozenset(word for text in rule.messages for word in text),
            frozenset(rule.page),
            frozenset(pair for text in rule.messages for pair in pairwise(text)),
        )


def index_of(rules: Iterable[RuleMeta]) -> dict[RuleMeta, Vocabulary]:
    """Return the words of rules; loads their modules."""
    return {rule: Vocabulary.of(words_of(rule)) for rule in rules}


def search(text: str, index: Mapping[RuleMeta, Vocabulary]) -> list[RankedRule]:
    """Return the rules whose words match a text, the best first; none if no word matches.

    A word also matches a longer word that begins with it: `cordon` finds `cordoned`. A rare word weighs more than a
    frequent one. Words of no rule, for example names of objects, are ignored.
    """
    wanted = words(text)
    meant = _meant(set(wanted), frozenset().union(*(item.all_words for item in index.values())))
    weights = _weights(meant, [item.all_words for item in index.values()])
    ranked = [RankedRule(rule, _score(wanted, item, meant, weights)) for rule, item in index.items()]
    best = max((item.score for item in ranked), default=0.0)
    near = [item for item in ranked if item.score > 0 and item.score >= best * _LEAST_OF_BEST]
    return sorted(near, key=lambda item: (-item.score, item.rule.code))


def _meant(wanted: set[str], known: frozenset[str]) -> dict[str, frozenset[str]]:
    """Return the known words that each wanted word matches: itself, and longer words that begin with it."""
    return {
        word: frozenset(
            other for other in known if other == word or (len(word) >= _SHORTEST_BEGINNING and other.startswith(word))
        )
        for word in wanted
    }


def _weights(meant: Mapping[str, frozenset[str]], index: Sequence[frozenset[str]]) -> dict[str, float]:
    """Return the weight of each wanted word: high for a word of few rules, 0 for a word of none."""
    counts = {word: sum(not others.isdisjoint(known) for known in index) for word, others in meant.items()}
    return {word: max(math.log(len(index) / count), _LEAST_WEIGHT) if count else 0.0 for word, count in counts.items()}


def _score(
    wanted: tuple[str, ...], rule: Vocabulary, meant: Mapping[str, frozenset[str]], weights: Mapping[str, float]
) -> float:
    """Return the sum of the weights of matching words, by their best source, and of matching pairs of words."""
    sources = ((rule.title, _OF_TITLE), (rule.messages, _OF_MESSAGE), (rule.page, _OF_PAGE))
    score = 0.0
    for word in dict.fromkeys(wanted):
        factor = next((factor for source, factor in sources if not meant[word].isdisjoint(source)), 0.0)
        score += factor * weights[word]
    for first, second in rule.pairs.intersection(pairwise(wanted)):
        score += _OF_PAIR * (weights[first] + weights[second] + _OF_FREQUENT_PAIR)
    return score
