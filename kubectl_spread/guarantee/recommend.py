"""Constraints that keep a policy and leave no pod Pending on the given nodes; loads numpy.

Candidates that change the fewest fields of the workloads are tried first. Of those, the largest maxSkew is tried that
the policy allows: the most pods that a domain may hold. It is lowered until the rule is proved. Then no order of events
may leave a pod Pending. Pods that run are left out if a candidate replaces all of them, and counts revisions apart.
If rollouts keep all candidates from both, they are tried with rollouts that start no extra pods. If no candidate does
both then, rules with `less than` are relaxed to `at most`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby, product
from typing import Optional

from kubectl_spread.cluster.ownership import OwnedPods
from kubectl_spread.cluster.snapshot import Cluster, Controller
from kubectl_spread.engine.reading import deployment_spec
from kubectl_spread.engine.refusals import without_pods
from kubectl_spread.engine.search.explore import Limit
from kubectl_spread.guarantee.build import GroupBuilder
from kubectl_spread.guarantee.members import Member, more_shards
from kubectl_spread.guarantee.model import GapKind
from kubectl_spread.guarantee.policy import PLACED, PolicyRule, Regime, RuleKind
from kubectl_spread.guarantee.prove import prove
from kubectl_spread.guarantee.recommendation import (
    common_selector,
    Formula,
    Hard,
    lacking,
    NeededDomains,
    Option,
    Recommendation,
    RecommendationRequest,
    RefusedCandidate,
    REQUIRED,
    ShardLimit,
    ShardRecommendation,
)
from kubectl_spread.guarantee.verdict import GroupResult, ProofStatus
from kubectl_spread.objects.constraints.constraint import plain_constraint, SCHEDULE_ANYWAY
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.reading.plain import fields, Plain
from kubectl_spread.objects.selectors import HOSTNAME
from kubectl_spread.objects.workloads.workload import POD_TEMPLATE_HASH

_BEFORE_DISRUPTIONS = (Regime.CREATION, Regime.RESTARTS, Regime.ROLLOUTS, Regime.SCALING)
_WITH_ROLLOUTS = (Regime.ROLLOUTS, Regime.SCALING)
_ONE_BY_ONE: Plain = {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
_QUICK = 5_000  # states that are visited for a candidate
_MOST_OPTIONS = 3


def recommend(request: RecommendationRequest) -> Recommendation:
    """Return constraints for a group of workloads."""
    rules = request.rules
    selector = common_selector(request.members)
    all_rules = rules if any(rule.kind is RuleKind.PLACED for rule in rules) else (*rules, PLACED)
    search = _Search(request._replace(rules=all_rules), selector)
    result = request.result
    if result is not None and result.verdict is ProofStatus.PROVED and all_rules == rules:
        return search.as_it_is(result)
    if not selector:
        return Recommendation((), all_rules, why_not="noSelector")
    found = search.run()
    impossible = tuple(item for item in found.formulas if item.needs > item.domains or not item.most)
    found = found._replace(impossible=impossible)
    surging = [
        item.key
        for item in request.members
        if item.key.kind == "Deployment" and deployment_spec(item.controller).max_surge
    ]
    in_rollouts = [item for item in found.attempts if item.regime in _WITH_ROLLOUTS]
    if surging and not found.options and in_rollouts:
        other = _Search(request._replace(rules=all_rules), selector, one_by_one=surging).run()
        found = found._replace(tried=found.tried + other.tried)
        if other.options:
            found = found._replace(
                is_one_by_one=True, options=other.options, formulas=other.formulas, refused=_closest(in_rollouts)
            )
    if not found.options and any(rule.is_strict for rule in all_rules):
        relaxed = tuple(rule._replace(is_strict=False) for rule in all_rules)  # `at most` instead of `less than`
        other = _Search(request._replace(rules=relaxed), selector).run()
        found = found._replace(tried=found.tried + other.tried)
        if other.options:
            found = found._replace(
                relaxed=True, options=other.options, rules=other.rules, formulas=other.formulas,
                is_cut_off=other.is_cut_off,
            )  # fmt: skip
    if found.options:
        return found
    # Do some keep the policy except while a template is rolled out?
    others = search.besides_rollouts()
    if others is None or not others.options:
        return found
    return found._replace(options=others.options, formulas=others.formulas, is_beside_rollouts=True)


class _Search:
    def __init__(
        self, request: RecommendationRequest, selector: Plain, *, one_by_one: Container[ObjectKey] = ()
    ) -> None:
        """Set up a search.

        Args:
            request: what to keep.
            selector: of the constraints.
            one_by_one: the Deployments whose rollouts delete an old pod before a new one starts.
        """
        self._request, self._rules, self._one_by_one = request, request.rules, one_by_one
        self._members = [_with_strategy(item) if item.key in one_by_one else item for item in request.members]
        self._cluster, self._limit, self._selector = request.cluster, request.limit, selector
        members, rules, regimes = self._members, request.rules, request.regimes
        self._judged = [item for item in regimes if item in _BEFORE_DISRUPTIONS] or [Regime.CREATION]
        self._regimes: Sequence[Regime] = self._judged
        self._has_disruptions = Regime.DISRUPTIONS in regimes
        self._pods = sum(item.controller.workload.replicas or 0 for item in members)
        builder = GroupBuilder(members, request.cluster, request.profiles, (), regime=Regime.CREATION)
        self._usable = frozenset(node for item in builder.filters().of_kind for node in item.allowed)
        self._has_volumes = any(gap.kind is GapKind.VOLUMES for gap in builder.group.gaps)
        self._bare = members
        if self._has_volumes:  # Candidates are tried without the volumes that the pods get.
            self._bare = [
                item._replace(
                    controller=item.controller._replace(workload=item.controller.workload._replace(claim_templates=()))
                )
                for item in members
            ]
        self._keys = list(dict.fromkeys(rule.topology_key for rule in rules if rule.topology_key))
        self._keys.sort(key=lambda key: -len(self._domains(key)))
        self._refused: dict[tuple[Hard, ...], RefusedCandidate] = {}
        self._states = 0
        self._part = _QUICK  # states that are visited for an option in each regime
        self._apart = tuple(rule.topology_key for rule in rules if rule.kind is RuleKind.SEPARATE)

    @cached_property
    def _without_own_pods(self) -> Cluster:
        """Return the cluster once rollouts have replaced all pods that run now."""
        owned = OwnedPods(self._cluster)
        own = {pod.uid: pod for member in self._members for pod in owned.of(member.key)}
        pods = tuple(pod for pod in self._cluster.pods if pod.uid not in own)
        quotas = tuple(without_pods(quota, own.values()) for quota in self._cluster.quotas)
        return self._cluster._replace(pods=pods, quotas=quotas)

    def _replaces_all(self, candidate: tuple[Hard, ...]) -> bool:
        """Return whether a candidate starts rollouts in which the old pods do not decide where new ones go."""
        return (
            all(hard.by_revision for hard in candidate)
            and not self._terms(candidate)
            and all(
                item.key.kind == "Deployment"
                and not item.controller.spec.get("paused")
                and self._with(item, candidate).controller.workload.template != item.controller.workload.template
                for item in self._members
            )
        )

    def _domains(self, key: str) -> set[str]:
        """Return the domains with a node that takes the pods."""
        nodes = [node for at, node in enumerate(self._cluster.nodes) if at in self._usable]
        return {node.labels[key] for node in nodes if key in node.labels}

    def besides_rollouts(self) -> Optional[Recommendation]:
        """Return options that keep the policy in the regimes without rollouts; None if these are all regimes."""
        fewer = [item for item in self._regimes if item not in _WITH_ROLLOUTS]
        if len(fewer) == len(self._regimes) or not fewer:
            return None
        self._regimes = fewer
        self._refused = {}
        return self.run()

    def run(self) -> Recommendation:
        """Return the options, the best first."""
        limits = {key: self._largest_skew(key) for key in self._keys}
        candidates = sorted(dict.fromkeys([*self._as_it_is(), *self._candidates(limits)]), key=self._changes)
        found: list[tuple[Hard, ...]] = []
        for _, alike in groupby(candidates, key=self._changes):
            together = [item for item in alike if not any(self._is_looser(other, item) for other in found)]
            found += self._kept(together, by_bounds=True) or self._kept(together, by_bounds=False)
            if len(found) >= _MOST_OPTIONS:
                break
        self._spread_refutations(candidates)
        is_whole = len(self._regimes) == len(self._judged)  # If not, the other regimes are lost anyway.
        self._part = max(_QUICK, self._limit.max_states // max(1, len(found))) if is_whole else _QUICK
        options: list[Option] = []  # without those that are proved in no other cases than an earlier one
        for option in [self._smallest(self._option(candidate)) for candidate in found]:
            if not any(_is_as_good(other, option) for other in options):
                options.append(option)
        options.sort(
            key=lambda item: [
                is_kept is not ProofStatus.PROVED for is_kept in (item.result.settled_verdict, item.result.verdict)
            ]
        )
        best = options[0].constraints if options else ()
        return Recommendation(
            tuple(options),
            self._rules,
            tuple(self._formulas(best)),
            refused=_closest(self._refused.values()),
            tried=len(candidates),
            is_cut_off=self._is_over(),
            attempts=tuple(self._refused.values()),
            is_exhaustive=all(candidate in self._refused for candidate in candidates)
            and all(item.verdict.verdict is ProofStatus.REFUTED for item in self._refused.values()),
        )

    def as_it_is(self, result: GroupResult) -> Recommendation:
        """Return the constraints as they are, which keep the policy."""
        now = next(self._as_it_is(), ())
        apart = [
            key for key in self._apart if not any(lacking(item.controller.workload, [key]) for item in self._members)
        ]
        needs = tuple(NeededDomains(key, self._needs(key, now)) for key in self._keys)
        option = Option(now, (), tuple(apart), (), result, needs)
        return Recommendation((option,), self._rules, tuple(self._formulas(now)), tried=1)

    def _kept(self, candidates: Sequence[tuple[Hard, ...]], *, by_bounds: bool) -> list[tuple[Hard, ...]]:
        """Return candidates that keep the policy.

        Args:
            candidates: the loosest first.
            by_bounds: shares are proved by bounds only, which needs no search.
        """
        found: list[tuple[Hard, ...]] = []
        for candidate in candidates:
            if len(found) >= _MOST_OPTIONS or self._is_over():
                break
            refused = self._refused.get(candidate)
            if refused is not None and refused.verdict.verdict is ProofStatus.REFUTED:
                continue
            if any(self._is_looser(other, candidate) for other in found):
                continue
            if by_bounds and not self._is_bounded(candidate):
                continue
            refusal = self._refusal(candidate)
            if refusal is None:
                self._refused.pop(candidate, None)
                found.append(candidate)
            else:
                self._refused[candidate] = refusal
        return found

    def _is_over(self) -> bool:
        """Return whether the candidates may visit no more states."""
        return self._states >= self._limit.max_states or self._limit.is_enough(self._states)

    def _is_bounded(self, candidate: tuple[Hard, ...]) -> bool:
        """Return whether bounds alone prove every rule but that each pod finds a node; the hardest regime is first."""
        others = [rule for rule in self._rules if rule.kind not in (RuleKind.PLACED, RuleKind.REPLACED)]
        for regime in reversed(self._regimes):
            result = self._proved(candidate, [regime], others, limit=None, members=self._bare)
            if result.settled_verdict in (ProofStatus.REFUTED, ProofStatus.UNDECIDED):
                return False
        return True

    def _refusal(self, candidate: tuple[Hard, ...]) -> Optional[RefusedCandidate]:
        """Return why a candidate does not keep the policy without disruptions; None if it does."""
        limit = self._limit._replace(max_states=min(_QUICK, self._limit.max_states))
        for regime in self._regimes:
            (item,) = self._proved(candidate, [regime], self._rules, limit=limit, members=self._bare).results
            self._states += max((verdict.states for verdict in item.rules), default=0)
            for verdict in item.rules:
                settled = verdict.once_settled
                if settled.verdict in (ProofStatus.REFUTED, ProofStatus.UNDECIDED):
                    return RefusedCandidate(candidate, settled, regime)
        return None

    def _smallest(self, option: Option) -> Option:
        """Leave out each constraint without which the same is proved, unless a rule limits the pods in its domains."""
        limited = {rule.topology_key for rule in self._rules if rule.most(self._pods) is not None}
        for item in option.constraints if len(option.constraints) > 1 else ():
            if item.topology_key in limited:
                continue
            rest = tuple(other for other in option.constraints if other != item)
            if self._is_over() or not self._is_bounded(rest) or self._refusal(rest) is not None:
                continue
            smaller = self._option(rest)
            if smaller.changes <= option.changes and _is_as_good(smaller, option):
                return self._smallest(smaller)
        return option

    def _spread_refutations(self, candidates: Sequence[tuple[Hard, ...]]) -> None:
        """Refute each candidate that allows all events of a violation that was found with a tighter one."""
        known = [  # A domain holds too many pods, while no pod waits that another candidate may place.
            item
            for item in self._refused.values()
            if item.verdict.rule.is_momentary and item.verdict.witness and not item.verdict.witness.waiting
        ]
        for candidate in candidates:
            refused = self._refused.get(candidate)
            if refused is None or refused.verdict.verdict is not ProofStatus.UNDECIDED:
                continue
            tighter = next((item for item in known if self._is_looser(candidate, item.constraints)), None)
            if tighter is not None:
                self._refused[candidate] = tighter._replace(constraints=candidate)

    def _largest_skew(self, key: str) -> int:
        """Return the largest maxSkew to try for a key."""
        most = self._most(key, self._pods)
        for rule in self._rules:
            if rule.topology_key == key and rule.kind is RuleKind.MIN_DOMAINS and rule.amount.numerator > 1:
                most = min(most, max(1, (self._pods - 1) // (rule.amount.numerator - 1)))
        return most

    def _most(self, key: str, pods: int) -> int:
        """Return the most pods that a domain of a key may hold, by all rules about the key; pods: of the group."""
        most = pods
        for rule in self._rules:
            if rule.topology_key != key:
                continue
            allowed = rule.most(pods)
            if allowed is not None:
                most = min(most, allowed)
            elif rule.kind is RuleKind.SURVIVE:
                most = min(most, (pods - rule.amount.at_least(pods)) // rule.lost)
        return most

    def _as_it_is(self) -> Iterator[tuple[Hard, ...]]:
        """Yield the constraints that the workloads have now, if all have the same."""
        now = {tuple(_hard_constraint(member, key) for key in self._keys) for member in self._members}
        for found in now if len(now) == 1 else ():
            known = tuple(item for item in found if item is not None)
            if known:
                yield known

    def _changes(self, candidate: tuple[Hard, ...]) -> int:
        """Return the number of fields of the template that a candidate changes: of the workload with the most."""
        wanted = {item.topology_key: item for item in candidate}
        terms = self._terms(candidate)
        return max(
            sum(_changed_fields(member, key, wanted.get(key), self._selector) for key in self._keys)
            + len(lacking(member.controller.workload, terms))
            for member in self._members
        )

    def _terms(self, candidate: tuple[Hard, ...]) -> tuple[str, ...]:
        """Return the keys of a candidate's required anti-affinity."""
        spread = {item.topology_key for item in candidate if item.max_skew == 1 and len(self._members) == 1}
        return tuple(key for key in self._apart if key not in spread)

    def _is_looser(self, one: tuple[Hard, ...], other: tuple[Hard, ...]) -> bool:
        """Return whether the first candidate allows everything that the second one allows."""
        is_alike = [item._replace(max_skew=1) for item in one] == [item._replace(max_skew=1) for item in other]
        is_as_loose = all(a.max_skew >= b.max_skew for a, b in zip(one, other, strict=False))
        return is_alike and is_as_loose and self._terms(one) == self._terms(other)

    def _candidates(self, limits: dict[str, int]) -> Iterator[tuple[Hard, ...]]:
        """Yield candidates, the loosest first; then with further fields.

        A constraint keeps the pods of one workload apart as anti-affinity does, and lets a rollout place new pods.
        """
        keys = [key for key in self._keys if limits[key] < self._pods]
        yield from self._over(keys, limits)
        more = [key for key in self._apart if key not in keys and len(self._members) == 1]
        if more:
            yield from self._over([*keys, *more], {**limits, **dict.fromkeys(more, 1)})

    def _over(self, keys: list[str], limits: dict[str, int]) -> Iterator[tuple[Hard, ...]]:
        if any(self._most(key, self._pods) * len(self._domains(key)) < self._pods for key in keys):
            return  # There are fewer domains than the pods need.
        bounds = [limits[key] for key in keys]
        choices = product(*(range(limit, 0, -1) for limit in bounds))
        all_skews = sorted(choices, key=lambda skews: (sum(bounds) - sum(skews), skews))
        has_useless = len(self._usable) < len(self._cluster.nodes) or self._has_disruptions
        variants: list[Plain] = (
            [{}, {"honors_taints": True}] if has_useless else [{}]
        )  # Further fields, the fewest first.
        if all(item.key.kind == "Deployment" for item in self._members):
            variants += [{**item, "by_revision": True} for item in variants]
        for variant in variants:
            for skews in all_skews:
                yield tuple(Hard(key, skew, **variant) for key, skew in zip(keys, skews, strict=True))
        domains = [len(self._domains(key)) for key in keys]
        for skews in all_skews[:_MOST_OPTIONS] if has_useless else ():
            each = zip(keys, skews, domains, strict=True)
            yield tuple(Hard(key, skew, honors_taints=True, min_domains=number) for key, skew, number in each)

    def _proved(
        self,
        candidate: tuple[Hard, ...],
        regimes: Sequence[Regime],
        rules: Sequence[PolicyRule],
        *,
        limit: Optional[Limit],
        members: Sequence[Member],
    ) -> GroupResult:
        changed = [self._with(item, candidate) for item in members]
        cluster = self._without_own_pods if self._replaces_all(candidate) else self._cluster
        return prove(
            changed, cluster, self._request.profiles, rules,
            regimes=regimes, limit=limit or self._limit, is_quick=limit is None,
        )  # fmt: skip

    def _with(self, member: Member, candidate: tuple[Hard, ...]) -> Member:
        """Return a workload with the constraints of a candidate."""
        workload = member.controller.workload
        changed = dict(fields(workload.template, "spec"))
        keys = {item.topology_key for item in candidate}.union(self._keys)  # Constraints of other keys stay.
        now = changed.get("topologySpreadConstraints") or ()
        made = [item.field(self._selector, is_stateful=workload.kind == "StatefulSet") for item in candidate]
        changed["topologySpreadConstraints"] = [*(item for item in now if item.get("topologyKey") not in keys), *made]
        apart = self._terms(candidate)
        if apart:
            affinity = fields(changed, "affinity")
            anti = fields(affinity, "podAntiAffinity")
            selector = fields(workload.selector)
            more = [{"topologyKey": key, "labelSelector": selector} for key in lacking(workload, apart)]
            required = [*(anti.get(REQUIRED) or ()), *more]
            changed["affinity"] = {**affinity, "podAntiAffinity": {**anti, REQUIRED: required}}
        template = {**workload.template, "spec": changed}
        spec = {**member.controller.spec, "template": template}
        controller: Controller = member.controller._replace(workload=workload._replace(template=template), spec=spec)
        return member._replace(controller=controller)

    def _option(self, candidate: tuple[Hard, ...]) -> Option:
        regimes = [*self._judged, *([Regime.DISRUPTIONS] if self._has_disruptions else [])]
        limit = self._limit._replace(max_states=min(self._part, self._limit.max_states))
        result = self._proved(candidate, regimes, self._rules, limit=limit, members=self._members)
        changes = self._changes(candidate)
        patches = ((item.key, self._patch(item, candidate, has_template=changes > 0)) for item in self._members)
        needs = tuple(NeededDomains(key, self._needs(key, candidate)) for key in self._keys)
        return Option(
            candidate, self._soft(candidate) if changes else (), self._terms(candidate),
            tuple((key, spec) for key, spec in patches if spec), result, needs, self._has_volumes,
            changes + (len(_ONE_BY_ONE["rollingUpdate"]) if self._one_by_one else 0),
            tuple(dict.fromkeys(text for member in self._members for text in self._removed(member, candidate))),
        )  # fmt: skip

    def _removed(self, member: Member, candidate: tuple[Hard, ...]) -> Iterator[str]:
        changed = self._with(member, candidate)
        for key in self._keys:
            kept = [item.items() for item in _written(changed, key)]
            for name, value in (pair for item in _written(member, key) for pair in item.items()):
                is_optional = name not in ("maxSkew", "topologyKey", "whenUnsatisfiable", "labelSelector")
                if is_optional and value not in (None, []) and all((name, value) not in found for found in kept):
                    yield f"{name} {', '.join(value) if isinstance(value, list) else value}"

    def _needs(self, key: str, candidate: tuple[Hard, ...]) -> int:
        """Return the fewest domains that can hold all pods, for every number of replicas.

        While a domain that counts has no room, no other gets more pods than maxSkew.
        """
        least = [
            rule.amount.numerator
            for rule in self._rules
            if rule.topology_key == key and rule.kind is RuleKind.MIN_DOMAINS
        ]
        members = [self._with(item, candidate) for item in self._members]
        regime = Regime.SCALING if Regime.SCALING in self._judged else Regime.CREATION
        builder = GroupBuilder(members, self._cluster, self._request.profiles, (), regime=regime)
        group = builder.group
        least += [
            min(-(-group.most // spread.max_skew), len(spread.eligible))
            for spread in builder.filters().of_kind[0].spreads
            if spread.topology_key == key
        ]
        if key in self._apart:
            least += [owner.most for owner in group.owners]
        return max([*(-(-pods // max(1, self._most(key, pods))) for pods in group.numbers), *least])

    def _soft(self, candidate: tuple[Hard, ...]) -> tuple[str, ...]:
        """Return the keys of soft constraints: nodes, and keys of the policy without a hard constraint.

        `kubectl apply` takes two constraints of one key for one.
        """
        exact = {item.topology_key for item in candidate}
        if len(self._members) == 1:
            exact.update(self._terms(candidate))
        specs = [item.controller.workload.pod_spec for item in self._members]
        others = {item.get("topologyKey") for spec in specs for item in spec.get("topologySpreadConstraints") or ()}
        nodes = () if HOSTNAME in others else (HOSTNAME,)
        return tuple(key for key in dict.fromkeys((*self._keys, *nodes)) if key not in exact)

    def _patch(self, member: Member, candidate: tuple[Hard, ...], *, has_template: bool) -> Plain:
        """Return the changed fields of a workload's spec, soft constraints included."""
        made: Plain = {}
        if has_template:
            spec = self._with(member, candidate).controller.workload.pod_spec
            soft = [plain_constraint(key, SCHEDULE_ANYWAY, self._selector) for key in self._soft(candidate)]
            changed = {"topologySpreadConstraints": [*spec["topologySpreadConstraints"], *soft]}
            apart = {"affinity": spec["affinity"]} if self._terms(candidate) else {}
            made["template"] = {"spec": {**changed, **apart}}
        if member.key in self._one_by_one:
            made["strategy"] = _ONE_BY_ONE
        return made

    def _formulas(self, best: tuple[Hard, ...]) -> Iterator[Formula]:
        proved = {item.topology_key: item.max_skew for item in best}
        for rule in self._rules:
            key, most = rule.topology_key, rule.most(self._pods)
            if rule.kind is RuleKind.SURVIVE and self._most(key, self._pods) <= 0:
                most = 0
            if most is not None:
                needs = -(-self._pods // most) if most else 0
                yield Formula(rule, most, self._pods, proved.get(key, 0), needs, len(self._domains(key)))


def _closest(found: Iterable[RefusedCandidate]) -> Optional[RefusedCandidate]:
    """Return the refused candidate that comes closest: one that only leaves pods Pending."""
    refuted = [item for item in found if item.verdict.verdict is ProofStatus.REFUTED]
    stuck = [item for item in refuted if item.verdict.rule.kind in (RuleKind.PLACED, RuleKind.REPLACED)]
    return next(iter([*stuck, *refuted, *found]), None)


def _with_strategy(member: Member) -> Member:
    """Return a Deployment whose rollouts delete an old pod before a new one starts."""
    spec = member.controller.spec
    changed = {**spec, "strategy": {**fields(spec, "strategy"), **_ONE_BY_ONE}}
    return member._replace(controller=member.controller._replace(spec=changed))


def _written(member: Member, key: str) -> list[Plain]:
    """Return the DoNotSchedule constraints of a workload over a key."""
    spec = member.controller.workload.pod_spec
    found = [item for item in spec.get("topologySpreadConstraints") or () if item.get("topologyKey") == key]
    return [item for item in found if item.get("whenUnsatisfiable") != SCHEDULE_ANYWAY]


def _hard_constraint(member: Member, key: str) -> Optional[Hard]:
    """Return the constraint of a workload over a key; None without one, or with other fields than candidates have."""
    found = _written(member, key)
    if len(found) != 1 or not isinstance(found[0].get("maxSkew"), int):
        return None
    (item,) = found
    keys = item.get("matchLabelKeys") or []
    if keys not in ([], [POD_TEMPLATE_HASH]) or item.get("nodeAffinityPolicy") == "Ignore":
        return None
    honors = item.get("nodeTaintsPolicy") == "Honor"
    return Hard(key, item["maxSkew"], item.get("minDomains") or 0, honors_taints=honors, by_revision=bool(keys))


def _changed_fields(member: Member, key: str, wanted: Optional[Hard], selector: Plain) -> int:
    """Return the number of fields of a workload's constraint over a key that differ from the wanted ones."""
    written, now = _written(member, key), _hard_constraint(member, key)
    if wanted is None or now is None:
        return len(written) + (wanted is not None) * sum(map(bool, wanted or ()))
    changed = sum(one != other for one, other in zip(now, wanted, strict=True))
    return changed + (written[0].get("labelSelector") != selector)


def _is_as_good(one: Option, other: Option) -> bool:
    """Return whether an option is proved in all cases in which another is."""
    mine, others = (
        {
            *(
                (item.regime, verdict.rule, is_settled)
                for item in option.result.results
                for verdict in item.rules
                for is_settled, answer in ((False, verdict), (True, verdict.once_settled))
                if answer.verdict is ProofStatus.PROVED
            ),
        }
        for option in (one, other)
    )
    return others <= mine


def recommend_for_group(request: RecommendationRequest) -> Recommendation:
    """Return constraints for a group as it is, and for each number of its shards.

    Each number of shards gets an equal part of the states.
    """
    members = request.members
    shards = members[0].shards
    if shards is None:
        return recommend(request)
    constant = [member._replace(shards=None) for member in members]
    numbers = list(dict.fromkeys((len(constant), *range(shards.least, shards.most + 1))))
    part = request.limit._replace(max_states=-(-request.limit.max_states // len(numbers)))
    found: dict[int, ShardRecommendation] = {}
    for number in numbers:
        more = more_shards(constant, max(0, number - len(constant)))
        sized = [*constant[:number], *(item._replace(is_extra=False) for item in more)]
        pods = sum(item.controller.workload.replicas or 0 for item in sized)
        limits = tuple(ShardLimit(rule, most) for rule in request.rules if (most := rule.most(pods)) is not None)
        best = recommend(request._replace(members=sized, limit=part, result=None))
        found[number] = ShardRecommendation(number, pods, limits, best)
    by_shards = tuple(found[number] for number in range(shards.least, shards.most + 1))
    return found[len(constant)].recommendation._replace(by_shards=by_shards)
