"""One round of Karpenter's solver, pod by pod: each step takes a state to the next, and asks when it would draw.

Source: sigs.k8s.io/karpenter pkg/controllers/provisioning/scheduling/scheduler.go, queue.go, nodeclaim.go,
existingnode.go (v1.13.0). Difference: of more than twelve claims Karpenter's sort may swap equal ones, here it does
not.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Optional, Union

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.constraints.constraint import SCHEDULE_ANYWAY
from kubectl_spread.objects.keys import NamespacedName
from kubectl_spread.objects.node import PREFER_NO_SCHEDULE
from kubectl_spread.objects.pod import HostPort, Pod, PodClass
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.selectors import HOSTNAME, NAMESPACE_NAME
from kubectl_spread.provisioners import machines, pods, refusals, topology
from kubectl_spread.provisioners import requirement as algebra
from kubectl_spread.provisioners.machines import Machine, total, Types
from kubectl_spread.provisioners.objects import Amounts, NodePool
from kubectl_spread.provisioners.reading import Options, Provisioning
from kubectl_spread.provisioners.refusals import Cause, Counts, PLACEHOLDER, Refusal
from kubectl_spread.provisioners.requirement import exists, of_labels, plus, requirement, Requirements
from kubectl_spread.provisioners.topology import Group, Taints
from kubectl_spread.provisioners.versions import Rule, rules

Choose = Callable[[int], int]  # a number below the given one, as drawn
# What Karpenter reads of a pod, besides namespace, labels and volumes.
_READ = (
    *("requests", "node_selector", "node_affinity", "pod_affinity", "pod_anti_affinity", "preferred_affinity"),
    *("preferred_anti_affinity", "tolerations", "constraints", "host_ports", "beyond"),
)
_MOST_CLASSES = 5  # whose order of registration is tried in every permutation


class Form(NamedTuple):
    """A pod after it has lost some preferences: what it asks for, and the groups that it owns."""

    pod: PodClass
    wanted: Requirements
    strict: Requirements
    owned: tuple[int, ...]


class Kind(NamedTuple):
    """Pods that are equal for Karpenter, with the forms that they take, one after another."""

    number: int
    pod: PodClass
    requests: Amounts
    forms: tuple[Form, ...]
    volumes: tuple[Requirements, ...]
    disks: frozenset[tuple[str, NamespacedName]]
    inverse: tuple[int, ...]  # numbers below 0: of its required anti-affinity, as other pods must respect it


class Claim(NamedTuple):
    """A node that the round invents."""

    template: int
    host: str
    placed: tuple[int, ...]
    requirements: Requirements
    mask: int
    requests: Amounts
    ports: tuple[HostPort, ...]


Numbers = dict[str, int]  # pods per domain


class State(NamedTuple):
    """A moment of the round. Pods are numbers; what changes is replaced, never written to.

    bags: pods that were not tried yet; those of one bag are equally large and old, and come in any order.
    tail: pods that fit nowhere, in the order in which they are tried again.
    pushed: how long the queue was when such a pod was put to its end.
    relaxed: how many preferences such a pod has lost for good, before 1.4.
    remaining: what is left of the limits of each pool.
    groups: pods per domain of each group.
    first: which group of several with one identity came first.
    """

    bags: tuple[tuple[int, ...], ...]
    machines: tuple[Machine, ...]
    remaining: dict[str, Amounts]
    groups: dict[int, Numbers]
    first: dict[int, Group]
    tail: tuple[int, ...] = ()
    pushed: dict[int, int] = {}  # noqa: RUF012 (never written to)
    relaxed: dict[int, int] = {}  # noqa: RUF012
    claims: tuple[Claim, ...] = ()
    errors: dict[int, tuple[Refusal, ...]] = {}  # noqa: RUF012


class Turn(NamedTuple):
    """A pod in one of its forms whose turn it is; `is_new`: for a node that no other pod is on."""

    state: State
    at: int
    kind: Kind
    form: Form
    choose: Choose
    is_new: bool = False


class Round:
    """Everything of a round that stays the same: pools, types, pods and how they look at each other."""

    def __init__(
        self,
        cluster: Cluster,
        pending: Iterable[Pod],
        provisioning: Provisioning,
        pools: list[NodePool],
        types: dict[str, Types],
        *,
        is_order_known: bool,
    ) -> None:
        """Prepare a round for pods that take part, with pools in their order and their instance types."""
        self.options: Options = provisioning.options
        self.rules = rules(self.options.version)
        self._cluster = cluster
        self.well_known = self.options.well_known
        self._ignores_preferences = self.options.ignores_preferences and Rule.IGNORES_PREFERENCES in self.rules
        named = {pod.namespace: {NAMESPACE_NAME: pod.namespace} for pod in cluster.pods}
        self._namespaces = {**named, **cluster.namespaces}
        daemons = [pod for pod in daemon_pods(cluster) if not self._is_refused_for_claims(pod)]
        self.templates, daemons = machines.templates(pools, types, daemons, self.options)
        readiness_taints = Rule.READINESS_TAINTS in self.rules
        found, deleted = machines.machines(cluster, provisioning, daemons, readiness_taints=readiness_taints)
        self.pods = (*pending, *_rescheduled(cluster, frozenset(deleted)))
        self._in_round = {pod.uid for pod in self.pods}
        self._domains = topology.domains_of(pools, {name: item.types for name, item in types.items()})
        self._tolerates = any(taint.effect == PREFER_NO_SCHEDULE for pool in pools for taint in pool.taints)
        # Pods count that are bound, neither finished nor terminating, and not to be placed in this round.
        self._running: dict[str, list[Pod]] = {}
        for pod in cluster.bound_pods():
            if not pod.terminating and pod.uid not in self._in_round:
                self._running.setdefault(pod.namespace, []).append(pod)
        self._nodes = {node.name: node for node in cluster.nodes}
        self._labels = {node.name: of_labels(node.labels) for node in cluster.nodes}
        self._identities: dict[object, int] = {}
        self._selects: dict[tuple[int, int], bool] = {}
        self._counted: dict[tuple[int, Group], Numbers] = {}
        self._groups: dict[tuple[int, int], Group] = {}  # by kind and identity
        self._any: dict[int, Group] = {}  # one of each identity
        self._kinds: dict[object, Kind] = {}
        self._machines = tuple(found)
        self._keys = self._selected_keys()
        self.kinds = tuple(self._kind(pod.cls) for pod in self.pods)
        self._pools = pools
        self._bags = self._queue(is_order_known=is_order_known)

    def _is_refused_for_claims(self, pod: PodClass) -> bool:
        has_claims = "resource claims" in pod.beyond and self.options.ignores_resource_claims
        return has_claims and Rule.REFUSES_RESOURCE_CLAIMS in self.rules

    def _queue(self, *, is_order_known: bool) -> tuple[tuple[int, ...], ...]:
        """Return the pods, the largest first, then the oldest; of equal ones the order is that of their UIDs."""

        def place(at: int) -> tuple[int, int, str]:
            requests = self.kinds[at].requests
            return -requests.get("cpu", 0), -requests.get("memory", 0), self.pods[at].created

        numbers = sorted(range(len(self.pods)), key=lambda at: (place(at), self.pods[at].uid))
        if is_order_known:
            return tuple((at,) for at in numbers)
        return tuple(tuple(group) for _, group in itertools.groupby(numbers, key=place))

    def _selected_keys(self) -> frozenset[str]:
        """Return the labels of pods on which anything in the round depends."""
        found = set()
        for pod in (*self.pods, *(pod for pod in self._cluster.bound_pods() if pod.cls.pod_anti_affinity)):
            terms = [*pod.cls.pod_affinity, *pod.cls.pod_anti_affinity]
            terms += [item.term for item in (*pod.cls.preferred_affinity, *pod.cls.preferred_anti_affinity)]
            found |= {item.key for term in terms for item in term.selector.requirements or ()}
            for constraint in pod.cls.constraints:
                found |= constraint.selected_keys | set(constraint.match_label_keys)
        return frozenset(found)

    def _kind(self, pod: PodClass) -> Kind:
        """Return the kind of a pod: pods are equal if they ask for the same, whatever their claims are called."""
        storage = self._cluster.storage
        volumes = pods.volume_alternatives(pod, storage, all_terms=Rule.ALL_VOLUME_TERMS in self.rules)
        is_limited = any(machine.disk_limits for machine in self._machines)
        disks = pods.attached(pod, storage) if is_limited else frozenset()
        pod = PodClass(
            namespace=pod.namespace,
            labels=tuple(item for item in pod.labels if item[0] in self._keys),
            **{name: getattr(pod, name) for name in _READ},
        )
        key = pod, disks, tuple(frozenset(item.values()) for item in volumes)
        known = self._kinds.get(key)
        if known is not None:
            return known
        number = len(self._kinds)
        forms = tuple(self._form(number, item) for item in pods.relaxed(pod, tolerates_preferences=self._tolerates))
        requests = pods.requests_of(pod)
        groups = (topology.of_term(Cause.ANTI_AFFINITY, term, pod, self._namespaces) for term in pod.pod_anti_affinity)
        inverse = tuple(self._identify(number, group, is_inverse=True) for group in groups)
        self._kinds[key] = found = Kind(number, pod, requests, forms, volumes, disks, inverse)
        return found

    def _form(self, kind: int, pod: PodClass) -> Form:
        strict = pods.required(pod)
        wanted = strict if self._ignores_preferences else pods.wanted(pod)
        groups = [
            topology.of_constraint(item, pod, policies=Rule.POLICIES in self.rules)
            for item in pod.constraints
            if not (self._ignores_preferences and item.when_unsatisfiable == SCHEDULE_ANYWAY)
        ]
        for cause, required, preferred in (
            (Cause.AFFINITY, pod.pod_affinity, pod.preferred_affinity),
            (Cause.ANTI_AFFINITY, pod.pod_anti_affinity, pod.preferred_anti_affinity),
        ):
            terms = [*required, *(item.term for item in preferred if not self._ignores_preferences)]
            groups += [topology.of_term(cause, term, pod, self._namespaces) for term in terms]
        owned = tuple(dict.fromkeys(self._identify(kind, group) for group in groups))
        return Form(pod, wanted, strict if Rule.STRICT_DOMAINS in self.rules else wanted, owned)

    def _identify(self, kind: int, group: Group, *, is_inverse: bool = False) -> int:
        """Return the number of a group's identity; of the groups of one kind with one identity the first counts."""
        number = self._identities.setdefault(group.identity, len(self._identities))
        number = -1 - number if is_inverse else number
        self._groups.setdefault((kind, number), group)
        self._any.setdefault(number, group)
        return number

    def _is_selected(self, number: int, group: Group, kind: Kind) -> bool:
        key = number, kind.number
        found = self._selects.get(key)
        if found is None:
            found = self._selects[key] = group.selects(kind.pod)
        return found

    def begin(self) -> list[State]:
        """Return the states in which the round may begin: pods are registered in any order, and the first decides."""
        kinds = list({kind.number: kind for kind in self.kinds}.values())
        orders: Iterable[tuple[Kind, ...]] = [tuple(kinds)]
        differing = self._differing(kinds)
        if 1 < len(differing) <= _MOST_CLASSES:
            rest = [kind for kind in kinds if kind not in differing]
            orders = [(*order, *rest) for order in itertools.permutations(differing)]
        found: dict[frozenset[tuple[int, Group]], State] = {}
        for order in orders:
            state = self._registered(order)
            found.setdefault(frozenset(state.first.items()), state)
        return list(found.values())

    def _differing(self, kinds: list[Kind]) -> list[Kind]:
        """Return the kinds of pods that share an identity, but not the group, with another kind."""
        by_identity: dict[int, dict[Group, list[Kind]]] = {}
        for kind in kinds:
            for number in (*kind.forms[0].owned, *kind.inverse):
                group = self._groups[kind.number, number]
                by_identity.setdefault(number, {}).setdefault(group, []).append(kind)
        shared = [groups for groups in by_identity.values() if len(groups) > 1]
        numbers = {kind.number for groups in shared for members in groups.values() for kind in members}
        return [kind for kind in kinds if kind.number in numbers]

    def _registered(self, order: tuple[Kind, ...]) -> State:
        remaining = {pool.name: dict(pool.limits) for pool in self._pools if pool.limits is not None}
        if Rule.COUNTS_NODES not in self.rules:
            remaining = {pool: {**limits, "nodes": 2**31} for pool, limits in remaining.items()}
        for machine in self._machines:
            limits = remaining.get(machine.pool, {})
            for name in limits:
                limits[name] -= machine.capacity.get(name, 0)
        inverse = self._inverse()
        state = State(self._bags, self._machines, remaining, inverse, {number: self._any[number] for number in inverse})
        for kind in order:
            for number in kind.inverse:
                if number not in state.groups:
                    group = state.first[number] = self._groups[kind.number, number]
                    state.groups[number] = topology.empty_domains(group, self._domains)
            state = self._with_groups(state, kind, kind.forms[0])
        hosts = [machine.host for machine in self._machines]
        for number, domains in state.groups.items():
            if self._any[number].key == HOSTNAME:
                state.groups[number] = {**dict.fromkeys(hosts, 0), **domains}
        return state

    def _inverse(self) -> dict[int, Numbers]:
        """Return where running pods with required anti-affinity are (updateInverseAffinities)."""
        found: dict[int, Numbers] = {}
        seen = {machine.node.name for machine in self._machines if machine.node is not None}
        for pod in self._cluster.bound_pods():
            if not pod.cls.pod_anti_affinity or pod.uid in self._in_round or pod.node_name not in seen:
                continue
            for term in pod.cls.pod_anti_affinity:
                group = topology.of_term(Cause.ANTI_AFFINITY, term, pod.cls, self._namespaces)
                number = self._identify(-1, group, is_inverse=True)
                counts = found.setdefault(number, topology.empty_domains(group, self._domains))
                domain = self._nodes[pod.node_name].labels.get(group.key)
                if domain is not None:
                    counts[domain] = counts.get(domain, 0) + 1
        return found

    def _with_groups(self, state: State, kind: Kind, form: Form) -> State:
        """Return the state with the groups of a form: a new one counts running pods only (Topology.Update)."""
        new = [number for number in form.owned if number not in state.groups]
        if not new:
            return state
        groups, first = dict(state.groups), dict(state.first)
        for number in new:
            group = first[number] = self._groups[kind.number, number]
            key = number, group
            if key not in self._counted:
                self._counted[key] = self._count(group)
            groups[number] = self._counted[key]
        return state._replace(groups=groups, first=first)

    def _count(self, group: Group) -> Numbers:
        """Count running pods per domain, and add the domains of existing nodes (countDomains)."""
        counts = topology.empty_domains(group, self._domains)
        for machine in self._machines:
            if machine.node is None or Rule.POLICIES not in self.rules:
                continue
            domain = machine.labels.get(group.key)
            if domain is not None and group.has_node(machine.node.taints, self._labels[machine.node.name]):
                counts.setdefault(domain, 0)
        for namespace in group.namespaces:
            for pod in self._running.get(namespace, ()):
                node = self._nodes.get(pod.node_name)
                if node is None or not (
                    group.selector.requirements is None or group.selector.matches(dict(pod.cls.labels))
                ):
                    continue
                domain = node.labels.get(group.key) or (node.name if group.key == HOSTNAME else None)
                if domain is not None and group.has_node(node.taints, self._labels[node.name]):
                    counts[domain] = counts.get(domain, 0) + 1
        return counts

    def heads(self, state: State) -> list[int]:
        """Return the pods of which one comes next, one of each kind; none if the round is over."""
        for bag in state.bags:
            return list({self.kinds[at].number: at for at in reversed(bag)}.values())
        if not state.tail or state.pushed.get(state.tail[0]) == len(state.tail):
            return []  # a whole lap without progress
        return [state.tail[0]]

    def step(self, state: State, at: int, choose: Choose) -> State:
        """Place a pod, or put it to the end of the queue with the reasons of each pool."""
        kind = self.kinds[at]
        if state.bags:
            rest = tuple([one for one in state.bags[0] if one != at])
            state = state._replace(bags=((rest, *state.bags[1:]) if rest else state.bags[1:]))
        else:
            state = state._replace(tail=state.tail[1:])
        reasons: tuple[Refusal, ...] = ()
        at_once, lost = Rule.RELAXES_AT_ONCE in self.rules, state.relaxed.get(at, 0)
        for form in kind.forms if at_once else kind.forms[lost : lost + 1]:
            state = self._with_groups(state, kind, form)
            found = self._add(Turn(state, at, kind, form, choose))
            if isinstance(found, State):
                return found
            state = state._replace(claims=self._by_number(state.claims))
            reasons = found
            if any(reason.cause in (Cause.RESERVED, Cause.RESOURCE_CLAIM) for reason in reasons):
                break
        tail = (*state.tail, at)
        state = state._replace(tail=tail, errors={**state.errors, at: reasons})
        if not at_once and lost + 1 < len(kind.forms):  # The pod gets nothing back, and all pods are tried again.
            return state._replace(pushed={}, relaxed={**state.relaxed, at: lost + 1})
        return state._replace(pushed={**state.pushed, at: len(tail) + sum(map(len, state.bags))})

    def _add(self, turn: Turn) -> Union[State, tuple[Refusal, ...]]:
        """Place a pod on an existing node, else on an invented one, else on a new one."""
        state = turn.state
        if self._is_refused_for_claims(turn.kind.pod):
            text = "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter"
            return (Refusal(Cause.RESOURCE_CLAIM, detail=text),)
        for place, machine in enumerate(state.machines):
            requirements = self._on_machine(turn, machine)
            if requirements is not None:
                return self._on(turn, place, requirements)
        claims = self._by_number(state.claims)
        for place, claim in enumerate(claims):
            fitted = self._on_claim(turn, claim)
            if not isinstance(fitted, Refusal):
                return self._in(turn, (*claims[:place], fitted, *claims[place + 1 :]), place)
        if not self.templates:
            text = "nodepool requirements filtered out all available instance types"
            return (Refusal(Cause.NO_TEMPLATE, detail=text),)
        reasons = []
        for number, template in enumerate(self.templates):
            made = self._on_new(turn, number)
            if isinstance(made, Refusal):
                reasons.append(made)
                continue
            pool = template.pool.name
            limits = state.remaining.get(pool)
            if limits is not None:
                largest = template.types.largest(made.mask)
                left = {name: amount - largest.get(name, 0) for name, amount in limits.items()}
                turn = turn._replace(state=state._replace(remaining={**state.remaining, pool: left}))
            return self._in(turn, (*claims, made), len(claims))
        return tuple(reasons)

    @staticmethod
    def _by_number(claims: tuple[Claim, ...]) -> tuple[Claim, ...]:
        """Return the invented nodes, those with the fewest pods first."""
        return tuple(sorted(claims, key=lambda claim: len(claim.placed)))

    def _on(self, turn: Turn, place: int, requirements: Requirements) -> State:
        """Return the state with a pod on an existing node."""
        state, kind = turn.state, turn.kind
        machine = state.machines[place]
        machine = machine._replace(
            requirements=requirements,
            free={name: amount - kind.requests.get(name, 0) for name, amount in machine.free.items()},
            ports=machine.ports + kind.pod.host_ports,
            disks=machine.disks | kind.disks,
            placed=(*machine.placed, turn.at),
        )
        state = state._replace(machines=(*state.machines[:place], machine, *state.machines[place + 1 :]))
        return self._recorded(turn, state, machine.taints, requirements)

    def _in(self, turn: Turn, claims: tuple[Claim, ...], place: int) -> State:
        """Return the state with a pod on an invented node."""
        state, claim = turn.state, claims[place]
        claim = claim._replace(
            placed=(*claim.placed, turn.at),
            requests=total(claim.requests, turn.kind.requests),
            ports=claim.ports + turn.kind.pod.host_ports,
        )
        groups = dict(state.groups)
        for number, counts in groups.items():
            if self._any[number].key == HOSTNAME and claim.host not in counts:
                groups[number] = {**counts, claim.host: 0}
        state = state._replace(claims=(*claims[:place], claim, *claims[place + 1 :]), groups=groups)
        return self._recorded(turn, state, self.templates[claim.template].pool.taints, claim.requirements)

    def _recorded(self, turn: Turn, state: State, taints: Taints, requirements: Requirements) -> State:
        """Return the state with a placed pod counted in every group that selects it (Topology.Record)."""
        groups = dict(state.groups)
        for number, counts in groups.items():
            group = state.first[number]
            selected = number >= 0 and self._is_selected(number, group, turn.kind)
            if (selected and group.has_node(taints, requirements)) or number in turn.kind.inverse:
                groups[number] = topology.recorded(group, counts, requirements)
        return state._replace(groups=groups)

    def _on_machine(self, turn: Turn, machine: Machine) -> Optional[Requirements]:
        """Return the requirements of an existing node with the pod; None if it does not fit."""
        kind, form = turn.kind, turn.form
        if not machines.fits(kind.requests.items(), machine.free):
            return None
        if topology.untolerated(machine.taints, form.pod.tolerations) or _conflict(kind.pod, machine.ports):
            return None
        disks = machine.disks | kind.disks if machine.disk_limits else ()
        if any(sum(one == driver for one, _ in disks) > most for driver, most in machine.disk_limits.items()):
            return None
        if not algebra.meets(machine.requirements, form.wanted):
            return None
        base = plus(machine.requirements, form.wanted.values())
        for volume in kind.volumes:
            if not algebra.meets(base, volume):
                continue
            have = plus(base, volume.values())
            found = self._narrowed(turn, have)
            if not isinstance(found, Refusal) and algebra.meets(have, found):
                return plus(have, found.values())
        return None

    def _on_new(self, turn: Turn, number: int) -> Union[Claim, Refusal]:
        """Return a new node of a pool with the pod, or why there is none."""
        template = self.templates[number]
        pool, mask = template.pool.name, template.mask
        limits = turn.state.remaining.get(pool)
        if limits is not None:
            if limits.get("nodes") == 0:
                text = f"node limits have been exhausted for nodepool (NodePool={pool})"
                return Refusal(Cause.LIMITS, pool, "nodes", text)
            mask &= template.types.within(limits)
            if not mask:
                text = f"all available instance types exceed limits for nodepool (NodePool={pool})"
                return Refusal(Cause.LIMITS, pool, "", text)
        host = f"{PLACEHOLDER}-{len(turn.state.claims) + 1:04}"
        requirements = plus(template.requirements, (requirement(HOSTNAME, "In", (host,)),))
        claim = Claim(number, host, (), requirements, mask, template.overhead, template.ports)
        return self._on_claim(turn._replace(is_new=True), claim)

    def _on_claim(self, turn: Turn, claim: Claim) -> Union[Claim, Refusal]:
        """Return an invented node narrowed for the pod, or why it does not fit (CanAdd).

        Nobody reads why a node does not fit that was invented for another pod, so that reason has no details.
        """
        template, form = self.templates[claim.template], turn.form
        pool, types = template.pool.name, template.types
        untolerated = topology.untolerated(template.pool.taints, form.pod.tolerations)
        if untolerated:
            return Refusal(Cause.TAINT, pool, "", untolerated)
        requests = total(claim.requests, turn.kind.requests)
        if not turn.is_new and not claim.mask & types.fitting(requests):
            return Refusal(Cause.INSTANCE_TYPES, pool)  # whatever is drawn
        conflict = _conflict(turn.kind.pod, claim.ports)
        if conflict:
            return Refusal(Cause.HOST_PORT, pool, "", conflict)
        found = algebra.clash(claim.requirements, form.wanted, self.well_known)
        if found is not None:
            chosen = turn.choose(len(found.unknown)) if len(found.unknown) > 1 and turn.is_new else 0
            return refusals.of_clash(found, pool, chosen=chosen, prefix="incompatible requirements, ")
        base = plus(claim.requirements, form.wanted.values())
        tried: list[Refusal] = []
        for volume in turn.kind.volumes:
            fitted = self._with_volume(turn, claim._replace(requirements=base), volume, requests)
            if not isinstance(fitted, Refusal):
                return fitted
            tried.append(fitted)
        return tried[-1]

    def _with_volume(self, turn: Turn, claim: Claim, volume: Requirements, requests: Amounts) -> Union[Claim, Refusal]:
        """Return an invented node narrowed for one alternative of the pod's volumes (tryVolumeAlternative)."""
        template = self.templates[claim.template]
        pool, types = template.pool.name, template.types
        found = algebra.clash(claim.requirements, volume, self.well_known)
        if found is not None:
            return refusals.of_clash(found, pool, prefix="incompatible volume requirements, ", cause=Cause.VOLUME)
        have = plus(claim.requirements, volume.values())
        narrowed = self._narrowed(turn, have)
        if isinstance(narrowed, Refusal):
            return narrowed._replace(pool=pool)
        found = algebra.clash(have, narrowed, self.well_known)
        if found is not None:
            return refusals.of_clash(found, pool)
        have = plus(have, narrowed.values())
        mask = claim.mask & types.compatible(have) & types.fitting(requests) & types.offered(have)
        missing = types.missing(mask, have)
        if missing and turn.is_new and self.options.relaxes_min_values:
            have = {**have, **{key: have[key]._replace(min_values=number) for key, number in missing.items()}}
            missing = {}
        if mask and not missing:
            return claim._replace(requirements=have, mask=mask)
        if not turn.is_new:
            return Refusal(Cause.INSTANCE_TYPES, pool)
        unfit = types.unfit(claim.mask, have, turn.kind.requests, template.overhead, requests)
        cause = Cause.MIN_VALUES if missing else Cause.INSTANCE_TYPES
        return Refusal(cause, pool, "", unfit._replace(missing=tuple(sorted(missing))))

    def _narrowed(self, turn: Turn, have: Requirements) -> Union[Requirements, Refusal]:
        """Return a node's requirements with what each group of the pod picks, independently of the others.

        Source: Topology.AddRequirements. If several groups find no domain, Karpenter names one of them at random.
        """
        state, form, kind, choose = turn.state, turn.form, turn.kind, turn.choose
        failed: list[Refusal] = []
        options = []
        matching = [(number, state.first[number], state.groups[number]) for number in form.owned]
        for number, counts in state.groups.items():
            if number < 0 and self._is_selected(number, self._any[number], kind):
                matching.append((number, self._any[number], counts))
        for number, group, counts in matching:
            pod_domains = form.strict.get(group.key) or exists(group.key)
            node_domains = have.get(group.key) or exists(group.key)
            selects = self._is_selected(number, group, kind)
            found = topology.picks(group, counts, pod_domains, node_domains, selects=selects)
            if found:
                options.append(found)
            elif not turn.is_new:
                return Refusal(group.cause)
            else:
                failed.append(Refusal(group.cause, "", group.key, _counts(counts, pod_domains, node_domains)))
        if failed:
            reasons = list(dict.fromkeys(failed))
            return reasons[choose(len(reasons))] if len(reasons) > 1 else reasons[0]
        picked = [found[choose(len(found))] if len(found) > 1 else found[0] for found in options]
        return plus(have, picked)


def _counts(counts: Numbers, pod_domains: algebra.Requirement, node_domains: algebra.Requirement) -> Counts:
    """Return what is counted, without the numbers of nodes that do not exist yet."""
    domains = tuple((_unnumbered(name), counts[name]) for name in sorted(counts))
    hosts = frozenset(map(_unnumbered, node_domains.values))
    return Counts(domains, pod_domains, node_domains._replace(values=hosts))


def _unnumbered(name: str) -> str:
    return PLACEHOLDER if name.startswith(f"{PLACEHOLDER}-") else name


def _conflict(pod: PodClass, taken: tuple[HostPort, ...]) -> str:
    """Return why a port of the pod is not free; empty if all are."""
    for new, old in itertools.product(pod.host_ports, taken):
        if new.conflicts(old):
            fields = ((whose, name) for whose in ("pod", "existing") for name in ("ip", "port", "protocol"))
            ports = {"pod": new, "existing": old}
            said = ", ".join(f"{whose}-hostport-{name}={getattr(ports[whose], name)}" for whose, name in fields)
            return f"checking host port usage, pod hostport conflicts with existing hostport configuration ({said})"
    return ""


def daemon_pods(cluster: Cluster) -> Iterator[PodClass]:
    """Yield a pod of each DaemonSet: its newest one, else one from its template (getDaemonSetPods)."""
    newest: dict[tuple[str, str], Pod] = {}
    for pod in cluster.pods:
        if pod.owner is not None and pods.is_of_daemon(pod):
            name = pod.namespace, pod.owner.name
            if name not in newest or newest[name].created < pod.created:
                newest[name] = pod
    for key, controller in cluster.controllers.items():
        if key.kind != "DaemonSet":
            continue
        template = controller.workload.template
        written = read.pod_class(key.namespace, fields(template, "metadata"), fields(template, "spec"), {})
        found, required = newest.get((key.namespace, key.name)), written.node_affinity.required
        cls = written if found is None else found.cls
        affinity = cls.node_affinity
        yield cls._replace(node_affinity=affinity if required is None else affinity._replace(required=required))


def _rescheduled(cluster: Cluster, deleted: frozenset[str]) -> Iterator[Pod]:
    """Yield the pods of nodes that are being deleted: they need another place (CurrentlyReschedulablePods)."""
    for pod in cluster.bound_pods():
        if pod.node_name not in deleted or pods.is_of(pod, *pods.NOT_MOVED):
            continue
        if not pod.terminating or pods.is_of(pod, ("apps/v1", "StatefulSet")):
            yield pod._replace(node_name="")
