"""Policy files (`kind: Policy`). Their JSON Schema is `schemas/policy.json`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, Optional

from kubectl_spread.errors import SourceError
from kubectl_spread.guarantee.policy import texts
from kubectl_spread.guarantee.policy.policy import (
    Amount,
    GroupSpec,
    PLACED,
    Policy,
    PolicyRule,
    Regime,
    REGIMES,
    RuleKind,
)
from kubectl_spread.guarantee.policy.texts import PolicyTextError
from kubectl_spread.objects.constraints import constraint
from kubectl_spread.objects.keys import Range
from kubectl_spread.objects.reading.decode import short_path
from kubectl_spread.objects.selectors import compile_selector, key_errors, Selector, value_errors
from kubectl_spread.sources import files, single_document
from kubectl_spread.text.node import Route
from kubectl_spread.text.wording import short


def load(path: str, *, inside: Optional[str] = None) -> Policy:
    """Read a policy; `inside` is the directory that must contain it, if a setting names the file.

    Raises:
        SourceError: it cannot be read, or is not YAML.
        ConfigError: it has errors; all of them are listed.
    """
    source = files.read_text(path) if inside is None else files.read_setting(path, inside)
    root = single_document.root_of(source, "a policy")
    if root is None:
        raise SourceError(source.name, "the file is empty")
    return _Reading(single_document.Document(source, root, "policy")).policy()


class _Reading:
    """Reader of the valid part of a policy; a value that the schema allows may still be an error."""

    def __init__(self, document: single_document.Document) -> None:
        self._document = document
        self._text, self._value, self._has = document.text, document.value, document.has
        self._place, self._note = document.place, document.note

    def policy(self) -> Policy:
        """Return the whole policy.

        Raises:
            ConfigError: it has errors.
        """
        file = self._document.source.name
        found = Policy(
            tuple(map(self._group, self._document.items(("groups",)))),
            self._text(("name",)) or os.path.splitext(os.path.basename(file))[0],
            file,
            self._regimes(),
        )
        self._document.throw()
        return found

    def _regimes(self) -> tuple[Regime, ...]:
        texts = [self._text(item) for item in self._document.items(("regimes",))]
        return tuple(item for item in REGIMES if item.value in texts) if texts else REGIMES

    def _group(self, route: Route) -> GroupSpec:
        rules = [rule for kind in _RULES for rule in kind(self, route)]
        if not rules and self._document.fits:
            known = "maxShare, maxCount, minDomains, separate, survive"
            self._refuse(route, f"the group has no rule: add one of {known}")
        if self._value((*route, "placed")) is not False:
            rules.append(PLACED)
        selector = self._selector((*route, "selector"))
        each = self._value((*route, "each"))
        line, column = self._place(route)
        is_each = each if isinstance(each, bool) else selector is None
        shards = self._shards(route, is_each=is_each)
        return GroupSpec(
            tuple(rules),
            self._text((*route, "name")),
            selector,
            self._text((*route, "namespace")),
            is_each,
            self._replicas((*route, "replicas")),
            shards,
            line,
            column,
        )

    def _selector(self, route: Route) -> Optional[Selector]:
        if not self._has(route):
            return None
        for key, place in self._document.fields((*route, "matchLabels")):
            for error in key_errors(key):
                self._note(place, f"not a label key: {short(key)}: {error}", key=True)
            for error in value_errors(self._text(place)):
                self._note(place, f"not a label value: {short(self._text(place))}: {error}")
        for place in self._document.items((*route, "matchExpressions")):
            operator = self._text((*place, "operator"))
            needs = operator in ("In", "NotIn")
            if needs != bool(self._document.items((*place, "values"))):
                self._refuse(place, f"{operator} {'needs' if needs else 'takes no'} values")
        if not self._document.fits:
            return None
        return compile_selector(constraint.label_selector(self._value(route)))

    def _replicas(self, route: Route) -> Optional[Range]:
        text = self._text(route)
        return self._parsed(route, texts.replicas, text) if text else None

    def _shards(self, route: Route, *, is_each: bool) -> Optional[Range]:
        place = (*route, "shards")
        text = self._text(place)
        found: Optional[Range] = self._parsed(place, texts.shards, text) if text else None
        if text and self._has((*route, "replicas")):
            self._refuse(place, "excludes replicas: the range counts whole workloads", key=True)
        elif text and is_each and self._document.fits:
            self._refuse(place, "the workloads need a common selector, and not `each: true`", key=True)
        return found

    def shares(self, route: Route) -> Iterator[PolicyRule]:
        """Yield the rules of `maxShare`."""
        for key, place in self._document.fields((*route, "maxShare")):
            text = self._text(place)
            rule = self._parsed(place, texts.share_of, key, text)
            if rule is not None:
                yield rule

    def counts(self, route: Route) -> Iterator[PolicyRule]:
        """Yield the rules of `maxCount`."""
        yield from self._numbers((*route, "maxCount"), RuleKind.MAX_COUNT, least=0)

    def domains(self, route: Route) -> Iterator[PolicyRule]:
        """Yield the rules of `minDomains`."""
        yield from self._numbers((*route, "minDomains"), RuleKind.MIN_DOMAINS, least=1)

    def separate_rules(self, route: Route) -> Iterator[PolicyRule]:
        """Yield the rules of `separate`."""
        for place in self._document.items((*route, "separate")):
            text = self._text(place)
            rule = self._parsed(place, texts.separate, text)
            if rule is not None:
                yield rule

    def losses(self, route: Route) -> Iterator[PolicyRule]:
        """Yield the rules of `survive`."""
        for place in self._document.items((*route, "survive")):
            lost = self._number((*place, "domains"), least=1) if self._has((*place, "domains")) else 1
            key, keep = self._text((*place, "key")), self._text((*place, "keep"))
            rule = self._parsed(place, texts.survive, key, keep)
            if rule is not None and lost is not None:
                yield rule._replace(lost=lost)

    def _numbers(self, route: Route, kind: RuleKind, *, least: int) -> Iterator[PolicyRule]:
        for key, place in self._document.fields(route):
            name = self._parsed(place, texts.topology_key, key, key=True)
            number = self._number(place, least=least)
            if name is not None and number is not None:
                line, column = self._place(place)
                yield PolicyRule(kind, name, Amount(number, text=str(number)), line=line, column=column)

    def _number(self, route: Route, *, least: int) -> Optional[int]:
        value = self._value(route)
        if type(value) is int and value >= least:
            return value
        if value is not None:
            wanted = "a whole number that is not negative" if not least else "a whole number of at least 1"
            self._refuse(route, f"must be {wanted}, not {short(self._text(route))}")
        return None

    def _parsed(self, route: Route, read: Callable[..., Any], *texts: str, key: bool = False) -> Any:
        """Return what a text means, a rule with its place; None if it is wrong, which is noted."""
        try:
            found = read(*texts)
        except PolicyTextError as error:
            self._refuse(route, str(error), key=key)
            return None
        if isinstance(found, PolicyRule):
            line, column = self._place(route)
            return found._replace(line=line, column=column)
        return found

    def _refuse(self, route: Route, message: str, *, key: bool = False) -> None:
        self._note(route, f"{short_path(route)}: {message}", key=key)


_RULES = (_Reading.shares, _Reading.counts, _Reading.domains, _Reading.separate_rules, _Reading.losses)
