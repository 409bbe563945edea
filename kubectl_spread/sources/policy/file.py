"""Policy files (`kind: Policy`). Their JSON Schema is `schemas/policy.json`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, Optional

from kubectl_spread.objects.constraints import constraint_reader
from kubectl_spread.objects.reading.decode import path_text
from kubectl_spread.objects.selectors.labels import key_errors, value_errors
from kubectl_spread.objects.selectors.selector import compile_selector, Selector
from kubectl_spread.policy import parse
from kubectl_spread.policy.parse import PolicyTextError
from kubectl_spread.policy.policy import GroupSpec, Policy, Regime, REGIMES, ReplicaBounds
from kubectl_spread.policy.rule import Amount, PLACED, PolicyRule, RuleKind
from kubectl_spread.sources import single_document
from kubectl_spread.text import node as nodes
from kubectl_spread.text.node import Node, Route
from kubectl_spread.text.source import SourceFile

Plain = dict[str, Any]


def load(path: str) -> Policy:
    """Read a policy.

    Raises:
        SourceError: it cannot be read, or is not YAML.
        ConfigError: it has errors; all of them are listed.
    """
    source, root = single_document.read(path, "a policy")
    return _Reading(source, root).policy()


class _Reading:
    """Reader of a policy with possible errors. An invalid value is reported and then left out."""

    def __init__(self, source: SourceFile, root: Node) -> None:
        self.source = source
        self.root = root
        self._errors = single_document.DocumentErrors(source, root)
        self._place, self._note = self._errors.place, self._errors.note
        self._wrong: set[Route] = set()

    def policy(self) -> Policy:
        """Return the whole policy.

        Raises:
            ConfigError: it has errors.
        """
        self._wrong |= {violation.route for violation in self._errors.check_shape("policy")}
        groups = nodes.follow(self.root, ("groups",))
        found = Policy(
            tuple(self._group(("groups", at)) for at in range(len(getattr(groups, "items", ())))),
            self._text(("name",)) or os.path.splitext(os.path.basename(self.source.name))[0],
            self.source.name,
            self._regimes(),
        )
        self._errors.throw()
        return found

    def _regimes(self) -> tuple[Regime, ...]:
        written = self._value(("regimes",))
        if not isinstance(written, list):
            return REGIMES
        known = {item.value for item in Regime}
        return tuple(item for item in REGIMES if item.value in [text for text in written if text in known])

    def _group(self, route: Route) -> GroupSpec:
        rules = [rule for kind in _RULES for rule in kind(self, route)]
        if not rules and not self._wrong:
            known = "maxShare, maxCount, minDomains, separate, survive"
            self._note(route, f"{path_text(route)}: the group has no rule: add one of {known}")
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
        plain = self._value(route)
        if not isinstance(plain, dict) or any(wrong[: len(route)] == route for wrong in self._wrong):
            return None
        for key, value in (plain.get("matchLabels") or {}).items():
            for error in key_errors(key):
                self._note((*route, "matchLabels", key), f"not a label key: {key}: {error}", key=True)
            for error in value_errors(value):
                self._note((*route, "matchLabels", key), f"not a label value: {value}: {error}")
        for at, item in enumerate(plain.get("matchExpressions") or ()):
            needs = item["operator"] in ("In", "NotIn")
            if needs != bool(item.get("values")):
                what = f"{item['operator']} {'needs' if needs else 'takes no'} values"
                self._note((*route, "matchExpressions", at), f"{path_text((*route, 'matchExpressions', at))}: {what}")
        return compile_selector(constraint_reader.label_selector(plain))

    def _replicas(self, route: Route) -> Optional[ReplicaBounds]:
        text = self._text(route)
        return self._parsed(route, parse.replicas, text) if text else None

    def _shards(self, route: Route, *, is_each: bool) -> Optional[ReplicaBounds]:
        place = (*route, "shards")
        text = self._text(place)
        found: Optional[ReplicaBounds] = self._parsed(place, parse.shards, text) if text else None
        if text and self._has((*route, "replicas")):
            self._note(place, f"{path_text(place)}: excludes replicas: the range counts whole workloads", key=True)
        elif text and is_each:
            self._note(
                place, f"{path_text(place)}: the workloads need a common selector, and not `each: true`", key=True
            )
        return found

    def shares(self, route: Route) -> Iterator[PolicyRule]:
        """Yield the rules of `maxShare`."""
        for key, place in self._fields((*route, "maxShare")):
            text = self._text(place)
            rule = self._parsed(place, parse.share_of, key, text)
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
        for place in self._items((*route, "separate")):
            text = self._text(place)
            rule = self._parsed(place, parse.separate, text)
            if rule is not None:
                yield rule

    def losses(self, route: Route) -> Iterator[PolicyRule]:
        """Yield the rules of `survive`."""
        for place in self._items((*route, "survive")):
            lost = self._number((*place, "domains"), least=1) if self._has((*place, "domains")) else 1
            key, keep = self._text((*place, "key")), self._text((*place, "keep"))
            rule = self._parsed(place, parse.survive, key, keep)
            if rule is not None and lost is not None:
                yield rule._replace(lost=lost)

    def _numbers(self, route: Route, kind: RuleKind, *, least: int) -> Iterator[PolicyRule]:
        for key, place in self._fields(route):
            name = self._parsed(place, parse.topology_key, key, key=True)
            number = self._number(place, least=least)
            if name is not None and number is not None:
                line, column = self._place(place)
                yield PolicyRule(kind, name, Amount(number, text=str(number)), line=line, column=column)

    def _number(self, route: Route, *, least: int) -> Optional[int]:
        value = self._value(route)
        if type(value) is int and value >= least:
            return value
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            wanted = "a whole number that is not negative" if not least else "a whole number of at least 1"
            self._note(route, f"{path_text(route)}: must be {wanted}, not {self._text(route)}")
        return None

    def _parsed(self, route: Route, read: Callable[..., Any], *texts: str, key: bool = False) -> Any:
        """Return what a text means, a rule with its place; None if it is wrong, which is noted."""
        if any(route[: len(wrong)] == wrong or wrong[: len(route)] == route for wrong in self._wrong):
            return None
        try:
            found = read(*texts)
        except PolicyTextError as error:
            self._note(route, f"{path_text(route)}: {error}", key=key)
            return None
        if isinstance(found, PolicyRule):
            line, column = self._place(route)
            return found._replace(line=line, column=column)
        return found

    def _fields(self, route: Route) -> list[tuple[str, Route]]:
        node = nodes.follow(self.root, route)
        return [(key, (*route, key)) for key in node.fields] if isinstance(node, nodes.Mapping) else []

    def _items(self, route: Route) -> list[Route]:
        node = nodes.follow(self.root, route)
        return [(*route, at) for at in range(len(node.items))] if isinstance(node, nodes.Sequence) else []

    def _has(self, route: Route) -> bool:
        return nodes.follow(self.root, route) is not None

    def _value(self, route: Route) -> Any:
        return nodes.to_plain(nodes.follow(self.root, route))

    def _text(self, route: Route) -> str:
        node = nodes.follow(self.root, route)
        return nodes.scalar_text(node) if isinstance(node, nodes.Scalar) else ""


_RULES = (_Reading.shares, _Reading.counts, _Reading.domains, _Reading.separate_rules, _Reading.losses)
