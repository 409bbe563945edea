"""Policy files (`kind: Policy`). Their JSON Schema is `schemas/policy.json`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Optional

from kubectl_spread.errors import ConfigError, SourceError
from kubectl_spread.guarantee import texts
from kubectl_spread.guarantee.policy import (
    Amount,
    GroupSpec,
    Policy,
    PolicyRule,
    REGIMES,
    RuleKind,
    with_places,
)
from kubectl_spread.objects.constraints import constraint
from kubectl_spread.objects.keys import Range
from kubectl_spread.objects.selectors import compile_selector, key_errors, Selector, value_errors
from kubectl_spread.sources import files
from kubectl_spread.sources.single_document import Document
from kubectl_spread.text.node import Route
from kubectl_spread.text.wording import short


def load(path: str, *, inside: Optional[str] = None) -> Policy:
    """Read a policy; `inside` is the directory that must contain it, if a setting names the file.

    Raises:
        SourceError: it cannot be read.
        ConfigError: it is not YAML, or has errors; all of them are listed.
    """
    source = files.read_text(path, inside=inside)
    try:
        reader = _PolicyReader(source, "policy")
    except SourceError as error:
        raise ConfigError((error,)) from None
    return reader.policy()


class _PolicyReader(Document):
    """Reader of the valid part of a policy; a value that the schema allows may still be an error."""

    def policy(self) -> Policy:
        """Return the whole policy.

        Raises:
            ConfigError: it has errors.
        """
        names = [self.text(*item) for item in self.items("regimes")]
        policy = Policy(
            tuple(map(self._group, self.items("groups"))),
            self.name,
            self.source.name,
            tuple(item for item in REGIMES if item.value in names) if names else REGIMES,
        )
        self.throw()
        return policy

    def _group(self, route: Route) -> GroupSpec:
        shares = self.fields(*route, "maxShare")
        parsed = [
            *(self._parsed(place, texts.share_of, key, self.text(*place)) for key, place in shares),
            *self._numbers((*route, "maxCount"), RuleKind.MAX_COUNT, least=0),
            *self._numbers((*route, "minDomains"), RuleKind.MIN_DOMAINS, least=1),
            *(self._parsed(place, texts.separate, self.text(*place)) for place in self.items(*route, "separate")),
            *self._losses((*route, "survive")),
        ]
        rules = [rule for rule in parsed if rule is not None]
        if not rules and not self.errors:
            self.refuse(route, "the group has no rule: add one of maxShare, maxCount, minDomains, separate, survive")
        placed = self.value(*route, "placed")
        if placed is not False:
            rules = with_places(rules, is_implied=placed is None)
        selector, replicas = self._selector((*route, "selector")), self.text(*route, "replicas")
        each = self.value(*route, "each")
        line, column = self.place(*route)
        is_each = each if isinstance(each, bool) else selector is None
        place = (*route, "shards")
        text = self.text(*place)
        shards = self._parsed(place, texts.shards, text) if text else None
        if text and self.has(*route, "replicas"):
            self.refuse(place, "excludes replicas: the range counts whole workloads", key=True)
        elif text and is_each and self.fits:
            self.refuse(place, "the workloads need a common selector, and not `each: true`", key=True)
        return GroupSpec(
            tuple(rules),
            self.text(*route, "name"),
            selector,
            self.text(*route, "namespace"),
            is_each,
            self._parsed((*route, "replicas"), Range.of_text, replicas) if replicas else None,
            shards,
            line,
            column,
        )

    def _selector(self, route: Route) -> Optional[Selector]:
        if not self.has(*route):
            return None
        for key, place in self.fields(*route, "matchLabels"):
            for error in key_errors(key):
                self.note(place, f"not a label key: {short(key)}: {error}", key=True)
            for error in value_errors(self.text(*place)):
                self.note(place, f"not a label value: {short(self.text(*place))}: {error}")
        for place in self.items(*route, "matchExpressions"):
            operator = self.text(*place, "operator")
            needs = operator in ("In", "NotIn")
            if needs != bool(self.items(*place, "values")):
                self.refuse(place, f"{operator} {'needs' if needs else 'takes no'} values")
        if not self.fits:
            return None
        return compile_selector(constraint.label_selector(self.value(*route)))

    def _losses(self, route: Route) -> Iterator[PolicyRule]:
        for place in self.items(*route):
            lost = self.number(*place, "domains", least=1) if self.has(*place, "domains") else 1
            rule = self._parsed(place, texts.survive, self.text(*place, "key"), self.text(*place, "keep"))
            if rule is not None and lost is not None:
                yield rule._replace(lost=lost)

    def _numbers(self, route: Route, kind: RuleKind, *, least: int) -> Iterator[PolicyRule]:
        for key, place in self.fields(*route):
            name = self._parsed(place, texts.topology_key, key, key=True)
            number = self.number(*place, least=least)
            if name is not None and number is not None:
                line, column = self.place(*place)
                yield PolicyRule(kind, name, Amount(number, text=str(number)), line=line, column=column)

    def _parsed(self, route: Route, read: Callable[..., Any], *texts: str, key: bool = False) -> Any:
        """Return what a text means, a rule with its place; None if it is wrong, which is noted."""
        try:
            found = read(*texts)
        except ValueError as error:
            self.refuse(route, str(error), key=key)
            return None
        if isinstance(found, PolicyRule):
            line, column = self.place(*route)
            return found._replace(line=line, column=column)
        return found
