"""Constraints that keep a policy and leave no pod Pending on the given nodes; loads numpy.

For each topology key of the policy, the largest maxSkew is tried that the policy allows: the most pods that a domain
may hold. It is lowered until the rule is proved. Then no order of events may leave a pod Pending. If no candidate does
both, rules with `less than` are relaxed to `at most`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Optional

from kubectl_spread.cluster.snapshot import Cluster, Controller, OwnerKey
from kubectl_spread.guarantee.build import Member
from kubectl_spread.guarantee.prove import Effort, GroupResult, ProofStatus, prove, RuleVerdict
from kubectl_spread.objects.constraints.constraint import DO_NOT_SCHEDULE, SCHEDULE_ANYWAY
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.workloads.workload import POD_TEMPLATE_HASH, Workload
from kubectl_spread.policy.policy import Regime, REGIMES
from kubectl_spread.policy.rule import Amount, PLACED, PolicyRule, RuleKind
from kubectl_spread.records import NamedTuple
from kubectl_spread.scheduler.framework.profile import Profile

Plain = dict[str, Any]

_BEFORE_DISRUPTIONS = (Regime.CREATION, Regime.RESTARTS, Regime.ROLLOUTS, Regime.SCALING)
_MOST_TRIED = 24  # candidates for each search
_MOST_OPTIONS = 3


class Hard(NamedTuple):
    """A DoNotSchedule constraint of a candidate; 0 and False are left out."""

    topology_key: str
    max_skew: int
    min_domains: int = 0
    honors_taints: bool = False
    by_revision: bool = False


class Formula(NamedTuple):
    """The largest maxSkew that a rule allows by its number, and the one that is proved.

    most: pods that a domain may hold. pods: of the group. proved: maxSkew of the recommendation; 0 for none. needs: the
    fewest domains that can hold all pods. domains: that exist for the pods.
    """

    rule: PolicyRule
    most: int
    pods: int
    proved: int
    needs: int
    domains: int


class NeededDomains(NamedTuple):
    """The fewest domains of a key that can hold all pods."""

    topology_key: str
    domains: int


class Cost(NamedTuple):
    """What an option costs: verdict on lost pods finding other nodes, by key of the lost domain."""

    replaced: tuple[tuple[str, ProofStatus], ...] = ()


class Option(NamedTuple):
    """Constraints that keep the policy, with their proof.

    soft: keys of ScheduleAnyway constraints with maxSkew 1, which spread the pods as evenly as the hard ones allow.
    apart: keys for which the pods of one workload need a required anti-affinity. patches: changed fields of the pod
    spec of each workload, with the constraints of other keys. result: verdicts in all regimes.
    """

    constraints: tuple[Hard, ...]
    soft: tuple[str, ...]
    apart: tuple[str, ...]
    patches: tuple[tuple[OwnerKey, Plain], ...]
    result: GroupResult
    cost: Cost
    needs: tuple[NeededDomains, ...] = ()

    @property
    def is_kept_always(self) -> bool:
        """Return whether the policy is kept during disruptions, too."""
        return self.result.verdict is ProofStatus.PROVED


class Refused(NamedTuple):
    """The candidate that comes closest, and why it is none."""

    constraints: tuple[Hard, ...]
    verdict: RuleVerdict
    regime: Regime


class Recommendation(NamedTuple):
    """Options, the best first. relaxed: whether rules were relaxed from `less than` to `at most` for them.

    rules: that the options keep. impossible: unrelaxed rules for which there are too few domains. refused: the best
    candidate for the unrelaxed rules, or for the rules if there is no option. tried: number of candidates. why_not:
    reason if nothing could be tried. selector: of the constraints.
    """

    options: tuple[Option, ...]
    rules: tuple[PolicyRule, ...]
    selector: Plain
    formulas: tuple[Formula, ...] = ()
    impossible: tuple[Formula, ...] = ()
    relaxed: bool = False
    refused: Optional[Refused] = None
    tried: int = 0
    why_not: str = ""


def recommend(
    members: Sequence[Member],
    cluster: Cluster,
    profiles: Mapping[str, Profile],
    rules: Sequence[PolicyRule],
    *,
    effort: Effort,
    regimes: Sequence[Regime] = REGIMES,
) -> Recommendation:
    """Return constraints for a group of workloads.

    Args:
        members: the workloads.
        cluster: the cluster facts.
        profiles: of the scheduler.
        rules: of the policy.
        effort: limits of the searches.
        regimes: in which the policy is to hold; disruptions only order the options.
    """
    selector = _selector(members)
    all_rules = tuple(rules) if PLACED in rules else (*rules, PLACED)
    if not selector:
        return Recommendation((), all_rules, {}, why_not="noSelector")
    half = effort.deadline and (time.monotonic() + effort.deadline) / 2
    first = effort._replace(deadline=half)
    strict = _Search(members, cluster, profiles, all_rules, selector, first, regimes).run()
    impossible = tuple(item for item in strict.formulas if item.needs > item.domains or not item.most)
    strict = strict._replace(impossible=impossible)
    if strict.options or not any(rule.is_strict for rule in all_rules):
        return strict
    relaxed = tuple(rule.relaxed for rule in all_rules)
    other = _Search(members, cluster, profiles, relaxed, selector, effort, regimes).run()
    if not other.options:
        return strict._replace(tried=strict.tried + other.tried)
    tried = strict.tried + other.tried
    return other._replace(relaxed=True, refused=strict.refused, tried=tried, impossible=impossible)


class _Search:
    def __init__(
        self,
        members: Sequence[Member],
        cluster: Cluster,
        profiles: Mapping[str, Profile],
        rules: tuple[PolicyRule, ...],
        selector: Plain,
        effort: Effort,
        regimes: Sequence[Regime],
    ) -> None:
        self._members = members
        self._cluster = cluster
        self._profiles = profiles
        self._rules = rules
        self._selector = selector
        self._effort = effort
        self._regimes = [item for item in regimes if item in _BEFORE_DISRUPTIONS] or [Regime.CREATION]
        self._has_disruptions = Regime.DISRUPTIONS in regimes
        self._pods = sum(item.controller.workload.replicas or 0 for item in members)
        self._keys = list(dict.fromkeys(rule.topology_key for rule in rules if rule.topology_key))
        self._keys.sort(key=lambda key: -len(self._domains(key)))
        self._refused: Optional[Refused] = None
        self._stuck: list[tuple[Hard, ...]] = []
        self._tried = 0
        self._apart = tuple(rule.topology_key for rule in rules if rule.kind is RuleKind.SEPARATE)

    def _domains(self, key: str) -> set[str]:
        return {node.labels[key] for node in self._cluster.nodes if key in node.labels}

    def run(self) -> Recommendation:
        """Return the options, the best first."""
        limits = {key: self._limit(key) for key in self._keys}
        found: list[tuple[Hard, ...]] = []
        for candidate in self._candidates(limits):
            if len(found) >= _MOST_OPTIONS or self._tried >= _MOST_TRIED:
                break
            if any(_is_looser(other, candidate) for other in (*found, *self._stuck)):
                continue  # A tighter candidate would leave pods Pending, too.
            if self._is_kept(candidate):
                found.append(candidate)
        options = _useful([self._option(candidate) for candidate in found])
        options.sort(key=lambda item: not item.is_kept_always)
        best = options[0].constraints if options else ()
        formulas = tuple(self._formulas(best))
        return Recommendation(
            tuple(options), self._rules, self._selector, formulas, refused=self._refused, tried=self._tried
        )

    def _limit(self, key: str) -> int:
        """Return the most pods that a domain of a key may hold, by all rules about the key."""
        most = self._pods
        for rule in self._rules:
            if rule.topology_key != key:
                continue
            allowed = rule.most(self._pods)
            if allowed is not None:
                most = min(most, allowed)
            elif rule.kind is RuleKind.SURVIVE:
                most = min(most, (self._pods - rule.amount.at_least(self._pods)) // rule.lost)
            elif rule.kind is RuleKind.MIN_DOMAINS and rule.amount.numerator > 1:
                most = min(most, max(0, self._pods - 1) // (rule.amount.numerator - 1))
        return most

    def _candidates(self, limits: dict[str, int]) -> Iterator[tuple[Hard, ...]]:
        """Yield candidates, the loosest first; then with further fields."""
        keys = [key for key in self._keys if limits[key] < self._pods]
        if any(limits[key] * len(self._domains(key)) < self._pods for key in keys):
            return  # There are fewer domains than the pods need.
        choices = [range(limits[key], 0, -1) for key in keys]
        skews = sorted(
            product(*choices), key=lambda item: (sum(limits[key] - s for key, s in zip(keys, item, strict=True)), item)
        )
        variants: list[Plain] = [{}, {"honors_taints": True}] if self._has_useless_domains() else [{}]
        variants += [{**item, "by_revision": True} for item in variants] if self._has_surge() else []
        for fields_ in variants:
            for item in skews:
                yield tuple(Hard(key, skew, **fields_) for key, skew in zip(keys, item, strict=True))
        for item in skews[:_MOST_OPTIONS]:
            made = [Hard(key, skew, honors_taints=True) for key, skew in zip(keys, item, strict=True)]
            yield tuple(hard._replace(min_domains=len(self._domains(hard.topology_key))) for hard in made)

    def _has_useless_domains(self) -> bool:
        return any(node.taints or node.unschedulable for node in self._cluster.nodes) or self._has_disruptions

    def _has_surge(self) -> bool:
        return all(item.key.kind == "Deployment" for item in self._members)

    def _is_kept(self, candidate: tuple[Hard, ...]) -> bool:
        """Return whether a candidate keeps the policy without disruptions."""
        self._tried += 1
        result = self._proved(candidate, self._regimes, self._rules, is_quick=True)
        for item in result.results:
            for verdict in item.rules:
                if verdict.verdict in (ProofStatus.REFUTED, ProofStatus.UNDECIDED):
                    if verdict.rule.kind is RuleKind.PLACED:
                        self._stuck.append(candidate)
                    if self._refused is None or self._refused.verdict.verdict is ProofStatus.UNDECIDED:
                        self._refused = Refused(candidate, verdict, item.regime)
                    return False
        return True

    def _proved(
        self, candidate: tuple[Hard, ...], regimes: Sequence[Regime], rules: Sequence[PolicyRule], *, is_quick: bool
    ) -> GroupResult:
        members = [self._with(item, candidate) for item in self._members]
        effort = self._effort._replace(is_quick=is_quick)
        return prove(members, self._cluster, self._profiles, rules, regimes=regimes, effort=effort)

    def _with(self, member: Member, candidate: tuple[Hard, ...]) -> Member:
        """Return a workload with the constraints of a candidate."""
        workload = member.controller.workload
        template = changed_template(workload, candidate, self._selector, apart=self._apart, replaced=self._keys)
        spec = {**member.controller.spec, "template": template}
        controller: Controller = member.controller._replace(workload=workload._replace(template=template), spec=spec)
        return member._replace(controller=controller)

    def _option(self, candidate: tuple[Hard, ...]) -> Option:
        regimes = [*self._regimes, *([Regime.DISRUPTIONS] if self._has_disruptions else [])]
        replaced = tuple(PolicyRule(RuleKind.SURVIVE, key, Amount(0, text="0")) for key in self._keys)
        result = self._proved(candidate, regimes, (*self._rules, *replaced), is_quick=False)
        count = len(self._rules)
        last = result.results[-1].rules[count:] if self._has_disruptions else ()
        cost = Cost(tuple((item.rule.topology_key, item.verdict) for item in last))
        kept = tuple(item._replace(rules=item.rules[:count]) for item in result.results)
        patches = tuple((item.key, self._patch(item, candidate)) for item in self._members)
        needs = tuple(NeededDomains(key, -(-self._pods // self._limit(key))) for key in self._keys)
        return Option(candidate, tuple(self._keys), self._apart, patches, result._replace(results=kept), cost, needs)

    def _patch(self, member: Member, candidate: tuple[Hard, ...]) -> Plain:
        """Return the changed fields of a workload's pod spec, soft constraints included."""
        spec = fields(self._with(member, candidate).controller.workload.template.get("spec"))
        soft = [soft_constraint(key, self._selector) for key in self._keys]
        made: Plain = {"topologySpreadConstraints": [*spec["topologySpreadConstraints"], *soft]}
        return {**made, "affinity": spec["affinity"]} if self._apart else made

    def _formulas(self, best: tuple[Hard, ...]) -> Iterator[Formula]:
        proved = {item.topology_key: item.max_skew for item in best}
        for rule in self._rules:
            most = rule.most(self._pods)
            if most is None:
                continue
            key = rule.topology_key
            needs = -(-self._pods // most) if most else 0
            yield Formula(rule, most, self._pods, proved.get(key, 0), needs, len(self._domains(key)))


def _useful(options: list[Option]) -> list[Option]:
    """Return the options without those that have more fields, or smaller numbers, than an equally good one."""
    useful: list[Option] = []
    for option in options:
        if not any(_is_as_good(other, option) for other in useful):
            useful.append(option)
    return useful


def _is_as_good(one: Option, other: Option) -> bool:
    """Return whether an option is proved in all cases in which another is."""
    mine, others = _proofs(one), _proofs(other)
    return others <= mine


def _proofs(option: Option) -> set[object]:
    proved = {
        (item.regime, verdict.rule)
        for item in option.result.results
        for verdict in item.rules
        if verdict.verdict is ProofStatus.PROVED
    }
    return proved | {key for key, verdict in option.cost.replaced if verdict is ProofStatus.PROVED}


def _is_looser(one: tuple[Hard, ...], other: tuple[Hard, ...]) -> bool:
    """Return whether every constraint of one candidate is at least as loose as that of another."""
    return all(
        a.max_skew >= b.max_skew and (a.honors_taints, a.by_revision) == (b.honors_taints, b.by_revision)
        and a.min_domains == b.min_domains
        for a, b in zip(one, other, strict=True)
    )  # fmt: skip


def changed_template(
    workload: Workload,
    candidate: Sequence[Hard],
    selector: Plain,
    *,
    apart: Sequence[str] = (),
    replaced: Sequence[str] = (),
) -> Plain:
    """Return a pod template with recommended constraints; constraints of other keys than `replaced` stay."""
    template = workload.template
    spec = fields(template.get("spec"))
    keys = {item.topology_key for item in candidate}
    keys |= set(replaced)
    others = [item for item in spec.get("topologySpreadConstraints") or () if item.get("topologyKey") not in keys]
    made = [plain_constraint(item, selector, is_stateful=workload.kind == "StatefulSet") for item in candidate]
    changed = {**spec, "topologySpreadConstraints": [*others, *made]}
    if apart:
        changed["affinity"] = _apart(fields(spec.get("affinity")), fields(workload.selector), apart)
    return {**template, "spec": changed}


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _apart(affinity: Plain, selector: Plain, keys: Sequence[str]) -> Plain:
    """Return an affinity that keeps the pods of one workload apart."""
    anti = fields(affinity.get("podAntiAffinity"))
    terms = list(anti.get(_REQUIRED) or ())
    known = {item.get("topologyKey") for item in terms}
    terms += [{"topologyKey": key, "labelSelector": selector} for key in keys if key not in known]
    return {**affinity, "podAntiAffinity": {**anti, _REQUIRED: terms}}


def plain_constraint(item: Hard, selector: Plain, *, is_stateful: bool = False) -> Plain:
    """Return a hard constraint as a field of a manifest."""
    made: Plain = {
        "maxSkew": item.max_skew,
        "topologyKey": item.topology_key,
        "whenUnsatisfiable": DO_NOT_SCHEDULE,
        "labelSelector": selector,
    }
    if item.min_domains:
        made["minDomains"] = item.min_domains
    if item.honors_taints:
        made["nodeTaintsPolicy"] = "Honor"
    if item.by_revision and not is_stateful:
        made["matchLabelKeys"] = [POD_TEMPLATE_HASH]
    return made


def soft_constraint(key: str, selector: Plain) -> Plain:
    """Return a constraint that spreads the pods as evenly as the hard ones allow."""
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": SCHEDULE_ANYWAY,
        "labelSelector": selector,
    }


def _selector(members: Sequence[Member]) -> Plain:
    """Return a selector of all pods of the group: of a constraint, or by the labels that all of them have."""
    templates = [item.controller.workload.template for item in members]
    labels = [fields(fields(item.get("metadata")).get("labels")) for item in templates]
    for template in templates:
        for constraint in fields(template.get("spec")).get("topologySpreadConstraints") or ():
            found = fields(constraint.get("labelSelector"))
            equal = fields(found.get("matchLabels"))
            if equal and not found.get("matchExpressions") and all(equal.items() <= item.items() for item in labels):
                return {"matchLabels": dict(equal)}
    own = fields(fields(members[0].controller.workload.selector).get("matchLabels"))
    if len(members) == 1 and own:
        return {"matchLabels": dict(own)}
    common = {key: value for key, value in labels[0].items() if all(item.get(key) == value for item in labels)}
    return {"matchLabels": common} if common else {}
