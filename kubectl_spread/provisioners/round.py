"""One round of Karpenter's solver, pod by pod: each step takes a state to the next, and asks when it would draw.

Source: sigs.k8s.io/karpenter pkg/controllers/provisioning/scheduling/scheduler.go, queue.go, nodeclaim.go,
existingnode.go (v1.13.0). Difference: of more than twelve claims Karpenter's sort may swap equal ones, here it does
not.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple, Optional, Union

from kubectl_spread.caching import cached_method
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.containers import grouped, Numbering
from kubectl_spread.objects.constraints.constraint import SCHEDULE_ANYWAY
from kubectl_spread.objects.keys import NamespacedName
from kubectl_spread.objects.node import Node, PREFER_NO_SCHEDULE
from kubectl_spread.objects.pod import HostPort, Pod, PodClass
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.selectors import HOSTNAME, NAMESPACE_NAME, NODE_POOL
from kubectl_spread.provisioners import machines, pods, refusals, topology
from kubectl_spread.provisioners import requirement as algebra
from kubectl_spread.provisioners.machines import Claim, Machine, total
from kubectl_spread.provisioners.objects import Amounts, NodePool
from kubectl_spread.provisioners.reading import Provisioning
from kubectl_spread.provisioners.refusals import Cause, Counts, PLACEHOLDER, Refusal, Unfit
from kubectl_spread.provisioners.requirement import of_labels, plus, requirement, Requirements
from kubectl_spread.provisioners.topology import Group, Taints, Tolerations
from kubectl_spread.provisioners.versions import Rule, rules

Choose = Callable[[int], int]  # a number below the given one, as drawn
# What Karpenter reads of a pod, besides namespace, labels and volumes.
_READ = (
    *("requests", "node_selector", "node_affinity", "pod_affinity", "pod_anti_affinity", "preferred_affinity"),
    *("preferred_anti_affinity", "tolerations", "constraints", "host_ports", "beyond"),
)
_MOST_CLASSES = 5  # whose order of registration is tried in every permutation


class Form(NamedTuple):
    """A pod after it has lost some preferences: what it asks for, and the groups that it owns, by their identities."""

    tolerations: Tolerations
    wanted: Requirements
    strict: Requirements
    owned: dict[int, Group]


class Kind(NamedTuple):
    """Pods that are equal for Karpenter, with the forms that they take, one after another.

    inverse: the groups of its required anti-affinity, as other pods must respect it; their identities are below 0.
    """

    number: int
    pod: PodClass
    requests: Amounts
    forms: tuple[Form, ...]
    volumes: tuple[Requirements, ...]
    disks: frozenset[tuple[str, NamespacedName]]
    inverse: dict[int, Group]


Numbers = dict[str, int]  # pods per domain


class State(NamedTuple):
    """A moment of the round. Pods are numbers; what changes is replaced, never written to.

    bags: pods that were not tried yet; those of one bag are equally large and old, and come in any order.
    tail: pods that fit nowhere, in the order in which they are tried again.
    pushed: how long the queue was when such a pod was put to its end.
    relaxed: how many preferences such a pod has lost for good, before 1.4.
    remaining: what is left of the limits of each pool.
    groups: by their identities, with the pods per domain; of several groups with one identity the one that came first.
    """

    bags: tuple[tuple[int, ...], ...]
    machines: tuple[Machine, ...]
    remaining: dict[str, Amounts]
    groups: dict[int, tuple[Group, Numbers]]
    tail: tuple[int, ...] = ()
    pushed: dict[int, int] = {}  # noqa: RUF012 (never written to)
    relaxed: dict[int, int] = {}  # noqa: RUF012
    claims: tuple[Claim, ...] = ()
    errors: dict[int, tuple[Refusal, ...]] = {}  # noqa: RUF012


class Turn(NamedTuple):
    """A pod in one of its forms whose turn it is."""

    state: State
    at: int
    kind: Kind
    form: Form
    choose: Choose


class Round:
    """Everything of a round that stays the same: pools, types, pods and how they look at each other."""

    def __init__(
        self,
        cluster: Cluster,
        pending: Iterable[Pod],
        provisioning: Provisioning,
        pools: list[NodePool],
    ) -> None:
        """Prepare a round for pods that take part, with the pools in their order."""
        self._options = provisioning.options
        self._rules = rules(self._options.version)
        self._cluster = cluster
        self._ignores_preferences = self._options.ignores_preferences and Rule.IGNORES_PREFERENCES in self._rules
        named = {pod.namespace: {NAMESPACE_NAME: pod.namespace} for pod in cluster.pods}
        self._namespaces = {**named, **cluster.namespaces}
        daemons = [pod for pod in daemon_pods(cluster) if not self._is_refused_for_claims(pod)]
        self.templates, daemons = machines.templates(pools, provisioning, daemons)
        readiness_taints = Rule.READINESS_TAINTS in self._rules
        found, deleted = machines.machines(cluster, provisioning, daemons, readiness_taints=readiness_taints)
        self._machines = tuple(found)
        # Pods of nodes that are being deleted need another place (CurrentlyReschedulablePods).
        of_deleted_nodes = [
            pod._replace(node_name="")
            for pod in cluster.bound_pods()
            if pod.node_name in deleted and not pods.is_of(pod, *pods.NOT_MOVED)
            if not pod.terminating or pods.is_of(pod, ("apps/v1", "StatefulSet"))
        ]
        self.pods = (*pending, *of_deleted_nodes)
        in_round = {pod.uid for pod in self.pods}
        self._others = [pod for pod in cluster.bound_pods() if pod.uid not in in_round]
        self._pools = pools
        self._domains = topology.domains_of((pool, machines.types_of(pool, provisioning).types) for pool in pools)
        self._tolerates = any(taint.effect == PREFER_NO_SCHEDULE for pool in pools for taint in pool.taints)
        self._nodes = {node.name: node for node in cluster.nodes}
        self._labels = {node.name: of_labels(node.labels) for node in cluster.nodes}
        self._identities = Numbering[object]()
        self._kinds: dict[object, Kind] = {}
        self._keys = self._selected_keys()
        self.kinds = tuple(self._kind(pod.cls) for pod in self.pods)

        def place(at: int) -> tuple[int, int, str]:
            requests = self.kinds[at].requests
            return -requests.get("cpu", 0), -requests.get("memory", 0), self.pods[at].created

        # The largest pods come first, then the oldest. Of equal ones it is the order of their UIDs, which is not known.
        numbers = sorted(range(len(self.pods)), key=lambda at: (place(at), self.pods[at].uid))
        self._bags = tuple(tuple(group) for _, group in itertools.groupby(numbers, key=place))

    def _is_refused_for_claims(self, pod: PodClass) -> bool:
        has_claims = "resource claims" in pod.beyond and self._options.ignores_resource_claims
        return has_claims and Rule.REFUSES_RESOURCE_CLAIMS in self._rules

    def _selected_keys(self) -> frozenset[str]:
        """Return the labels of pods on which anything in the round depends."""
        found: set[str] = set()
        for pod in (*self.pods, *(pod for pod in self._cluster.bound_pods() if pod.cls.pod_anti_affinity)):
            found |= pod.cls.selecting_keys
            for item in (*pod.cls.preferred_affinity, *pod.cls.preferred_anti_affinity):
                found |= {requirement.key for requirement in item.term.selector.requirements or ()}
        return frozenset(found)

    def _kind(self, pod: PodClass) -> Kind:
        """Return the kind of a pod: pods are equal if they ask for the same, whatever their claims are called."""
        storage = self._cluster.storage
        volumes = pods.volume_alternatives(pod, storage, all_terms=Rule.ALL_VOLUME_TERMS in self._rules)
        is_limited = any(machine.disk_limits for machine in self._machines)
        disks = pods.attached(pod, storage) if is_limited else frozenset()
        pod = PodClass(
            namespace=pod.namespace,
            labels=tuple(item for item in pod.labels if item[0] in self._keys),
            **{name: getattr(pod, name) for name in _READ},
        )
        key = pod, disks, tuple(frozenset(item.values()) for item in volumes)
        if key not in self._kinds:
            forms = tuple(self._form(item) for item in pods.relaxed(pod, tolerates_preferences=self._tolerates))
            own = [topology.of_term(Cause.ANTI_AFFINITY, item, pod, self._namespaces) for item in pod.pod_anti_affinity]
            inverse = {~number: group for number, group in self._by_identity(own).items()}
            self._kinds[key] = Kind(len(self._kinds), pod, pods.requests_of(pod), forms, volumes, disks, inverse)
        return self._kinds[key]

    def _form(self, pod: PodClass) -> Form:
        strict = pods.required(pod)
        wanted = strict if self._ignores_preferences else pods.wanted(pod)
        groups = [
            topology.of_constraint(item, pod, policies=Rule.POLICIES in self._rules)
            for item in pod.constraints
            if not (self._ignores_preferences and item.when_unsatisfiable == SCHEDULE_ANYWAY)
        ]
        for cause, required, preferred in (
            (Cause.AFFINITY, pod.pod_affinity, pod.preferred_affinity),
            (Cause.ANTI_AFFINITY, pod.pod_anti_affinity, pod.preferred_anti_affinity),
        ):
            terms = [*required, *(item.term for item in preferred if not self._ignores_preferences)]
            groups += [topology.of_term(cause, term, pod, self._namespaces) for term in terms]
        return Form(
            pod.tolerations, wanted, strict if Rule.STRICT_DOMAINS in self._rules else wanted, self._by_identity(groups)
        )

    def _by_identity(self, groups: Iterable[Group]) -> dict[int, Group]:
        """Return groups by the numbers of their identities; the first group of an identity counts."""
        found: dict[int, Group] = {}
        for group in groups:
            found.setdefault(self._identities[group.identity], group)
        return found

    def begin(self) -> list[State]:
        """Return the states in which the round may begin: pods are registered in any order, and the first decides."""
        kinds = list(self._kinds.values())
        of_kinds = [(kind, kind.forms[0].owned | kind.inverse) for kind in kinds]
        variants = grouped((number, group) for _, groups in of_kinds for number, group in groups.items())
        # Kinds of pods that share an identity, but not the group, with another kind
        differing = [kind for kind, groups in of_kinds if any(len(set(variants[number])) > 1 for number in groups)]
        orders: Iterable[tuple[Kind, ...]] = [tuple(kinds)]
        if 1 < len(differing) <= _MOST_CLASSES:
            rest = [kind for kind in kinds if kind not in differing]
            orders = [(*order, *rest) for order in itertools.permutations(differing)]
        found: dict[frozenset[tuple[int, Group]], State] = {}
        for order in orders:
            state = self._registered(order)
            found.setdefault(frozenset((number, group) for number, (group, _) in state.groups.items()), state)
        return list(found.values())

    def _registered(self, order: tuple[Kind, ...]) -> State:
        remaining = {pool.name: dict(pool.limits) for pool in self._pools if pool.limits is not None}
        if Rule.COUNTS_NODES not in self._rules:
            remaining = {pool: {**limits, "nodes": 2**31} for pool, limits in remaining.items()}
        for machine in self._machines:
            limits = remaining.get(machine.labels.get(NODE_POOL, ""), {})
            for name in limits:
                limits[name] -= machine.capacity.get(name, 0)
        state = State(self._bags, self._machines, remaining, {})
        # Where running pods with required anti-affinity are (updateInverseAffinities)
        names = {machine.node.name for machine in self._machines if machine.node is not None}
        for pod in self._others:
            for term in pod.cls.pod_anti_affinity if pod.node_name in names else ():
                group = topology.of_term(Cause.ANTI_AFFINITY, term, pod.cls, self._namespaces)
                number = ~self._identities[group.identity]
                _, counts = state.groups.setdefault(number, (group, topology.empty_domains(group, self._domains)))
                domain = self._nodes[pod.node_name].labels.get(group.key)
                if domain is not None:
                    counts[domain] = counts.get(domain, 0) + 1
        for kind in order:
            for number, group in kind.inverse.items():
                state.groups.setdefault(number, (group, topology.empty_domains(group, self._domains)))
            state = self._with_groups(state, kind.forms[0])
        hosts = [host for machine in self._machines for host in machine.requirements[HOSTNAME].values]
        for number, (group, domains) in state.groups.items():
            if group.key == HOSTNAME:
                state.groups[number] = group, {**dict.fromkeys(hosts, 0), **domains}
        return state

    def _with_groups(self, state: State, form: Form) -> State:
        """Return the state with the groups of a form: a new one counts running pods only (Topology.Update)."""
        new = {
            number: (group, self._count(group)) for number, group in form.owned.items() if number not in state.groups
        }
        return state._replace(groups=state.groups | new) if new else state

    @cached_method
    def _count(self, group: Group) -> Numbers:
        """Count running pods per domain, and add the domains of existing nodes (countDomains)."""
        counts = topology.empty_domains(group, self._domains)
        for machine in self._machines if Rule.POLICIES in self._rules else ():
            domain = machine.labels.get(group.key)
            if domain is not None and machine.node is not None and self._has_node(group, machine.node):
                counts.setdefault(domain, 0)
        for pod in self._others:
            node = self._nodes.get(pod.node_name)
            if node is None or pod.terminating or pod.namespace not in group.namespaces:
                continue
            if group.selector.requirements is None or group.selector.matches(pod.labels):
                domain = node.labels.get(group.key) or (node.name if group.key == HOSTNAME else None)
                if domain is not None and self._has_node(group, node):
                    counts[domain] = counts.get(domain, 0) + 1
        return counts

    def _has_node(self, group: Group, node: Node) -> bool:
        return group.has_node(node.taints, self._labels[node.name])

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
        # The invented nodes with the fewest pods come first.
        state = state._replace(claims=tuple(sorted(state.claims, key=lambda claim: len(claim.placed))))
        reasons: tuple[Refusal, ...] = ()
        at_once, lost = Rule.RELAXES_AT_ONCE in self._rules, state.relaxed.get(at, 0)
        forms = kind.forms if at_once else kind.forms[lost : lost + 1]
        if self._is_refused_for_claims(kind.pod):
            text = "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter"
            forms, reasons = (), (Refusal(Cause.RESOURCE_CLAIM, detail=text),)
        for form in forms:
            state = self._with_groups(state, form)
            found = self._add(Turn(state, at, kind, form, choose))
            if isinstance(found, State):
                return found
            reasons = found
        tail = (*state.tail, at)
        state = state._replace(tail=tail, errors={**state.errors, at: reasons})
        if not at_once and lost + 1 < len(kind.forms):  # The pod gets nothing back, and all pods are tried again.
            return state._replace(pushed={}, relaxed={**state.relaxed, at: lost + 1})
        return state._replace(pushed={**state.pushed, at: len(tail) + sum(map(len, state.bags))})

    def _add(self, turn: Turn) -> Union[State, tuple[Refusal, ...]]:
        """Place a pod on an existing node, else on an invented one, else on a new one."""
        state, kind = turn.state, turn.kind
        for place, machine in enumerate(state.machines):
            requirements = self._on_machine(turn, machine)
            if requirements is None:
                continue
            machine = machine._replace(  # noqa: PLW2901
                requirements=requirements,
                free={name: amount - kind.requests.get(name, 0) for name, amount in machine.free.items()},
                ports=machine.ports + kind.pod.host_ports,
                disks=machine.disks | kind.disks,
                placed=(*machine.placed, turn.at),
            )
            state = state._replace(machines=(*state.machines[:place], machine, *state.machines[place + 1 :]))
            return self._recorded(state, kind, machine.taints, requirements)
        reasons: list[Refusal] = []
        for place, claim in enumerate((*state.claims, *self.templates)):
            fitted = self._on_claim(turn, claim) if claim.placed else self._on_new(turn, claim)
            if isinstance(fitted, Refusal):
                reasons += [] if claim.placed else [fitted]
                continue
            remaining, limits = state.remaining, state.remaining.get(claim.pool.name)
            if limits is not None and not claim.placed:
                largest = claim.types.largest(fitted.mask)
                left = {name: amount - largest.get(name, 0) for name, amount in limits.items()}
                remaining = {**remaining, claim.pool.name: left}
            fitted = fitted._replace(
                placed=(*claim.placed, turn.at),
                requests=total(claim.requests, kind.requests),
                ports=claim.ports + kind.pod.host_ports,
            )
            groups = {
                number: (group, {fitted.host: 0, **counts} if group.key == HOSTNAME else counts)
                for number, (group, counts) in state.groups.items()
            }
            claims = (*state.claims[:place], fitted, *state.claims[place + 1 :])  # a new one comes last
            state = state._replace(claims=claims, groups=groups, remaining=remaining)
            return self._recorded(state, kind, claim.pool.taints, fitted.requirements)
        if self.templates:
            return tuple(reasons)
        text = "nodepool requirements filtered out all available instance types"
        return (Refusal(Cause.NO_TEMPLATE, detail=text),)

    @staticmethod
    def _recorded(state: State, kind: Kind, taints: Taints, requirements: Requirements) -> State:
        """Return the state with a placed pod counted in every group that selects it (Topology.Record)."""
        groups = dict(state.groups)
        for number, (group, counts) in state.groups.items():
            is_counted = number >= 0 and group.selects(kind.pod) and group.has_node(taints, requirements)
            if is_counted or number in kind.inverse:
                groups[number] = group, topology.recorded(group, counts, requirements)
        return state._replace(groups=groups)

    def _on_machine(self, turn: Turn, machine: Machine) -> Optional[Requirements]:
        """Return the requirements of an existing node with the pod; None if it does not fit."""
        kind, form = turn.kind, turn.form
        if not machines.fits(kind.requests.items(), machine.free):
            return None
        if topology.untolerated(machine.taints, form.tolerations) or _conflict(kind.pod, machine.ports):
            return None
        disks = Counter(driver for driver, _ in machine.disks | kind.disks) if machine.disk_limits else {}
        if any(disks.get(driver, 0) > most for driver, most in machine.disk_limits.items()):
            return None
        if algebra.clash(machine.requirements, form.wanted):
            return None
        base = plus(machine.requirements, form.wanted)
        for volume in kind.volumes:
            if not algebra.clash(base, volume):
                narrowed = self._narrowed(turn, plus(base, volume), is_new=False)
                if not isinstance(narrowed, Refusal):
                    return narrowed
        return None

    def _on_new(self, turn: Turn, template: Claim) -> Union[Claim, Refusal]:
        """Return a new node of a pool with the pod, or why there is none."""
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
        requirements = algebra.of((requirement(HOSTNAME, "In", (host,)),), template.requirements)
        return self._on_claim(turn, template._replace(host=host, requirements=requirements, mask=mask))

    def _on_claim(self, turn: Turn, claim: Claim) -> Union[Claim, Refusal]:
        """Return an invented node narrowed for the pod, or why it does not fit (CanAdd).

        Nobody reads why a node does not fit that was invented for another pod, so that reason has no details.
        """
        form, pool = turn.form, claim.pool.name
        untolerated = topology.untolerated(claim.pool.taints, form.tolerations)
        if untolerated:
            return Refusal(Cause.TAINT, pool, "", untolerated)
        requests = total(claim.requests, turn.kind.requests)
        if claim.placed and not claim.mask & claim.types.fitting(requests):
            return Refusal(Cause.INSTANCE_TYPES, pool)  # whatever is drawn
        conflict = _conflict(turn.kind.pod, claim.ports)
        if conflict:
            return Refusal(Cause.HOST_PORT, pool, "", conflict)
        clash = algebra.clash(claim.requirements, form.wanted, self._options.well_known)
        if clash:
            chosen = turn.choose(len(clash.unknown)) if clash.unknown and not claim.placed else 0
            return refusals.of_clash(clash, pool, chosen=chosen, prefix="incompatible requirements, ")
        base = plus(claim.requirements, form.wanted)
        fitted: Union[Claim, Refusal] = claim
        for volume in turn.kind.volumes:
            fitted = self._with_volume(turn, claim._replace(requirements=base), volume, requests)
            if not isinstance(fitted, Refusal):
                break
        return fitted

    def _with_volume(self, turn: Turn, claim: Claim, volume: Requirements, requests: Amounts) -> Union[Claim, Refusal]:
        """Return an invented node narrowed for one alternative of the pod's volumes (tryVolumeAlternative)."""
        pool, types, is_new = claim.pool.name, claim.types, not claim.placed
        clash = algebra.clash(claim.requirements, volume, self._options.well_known)
        if clash:
            return refusals.of_clash(clash, pool, prefix="incompatible volume requirements, ", cause=Cause.VOLUME)
        have = self._narrowed(turn, plus(claim.requirements, volume), is_new=is_new, allowed=self._options.well_known)
        if isinstance(have, Refusal):
            return have._replace(pool=pool)
        compatible, fitting, offered = types.compatible(have), types.fitting(requests), types.offered(have)
        mask = claim.mask & compatible & fitting & offered
        missing = types.missing(mask, have)
        if missing and is_new and self._options.relaxes_min_values:
            have = {**have, **{key: have[key]._replace(min_values=number) for key, number in missing.items()}}
            missing = {}
        if mask and not missing:
            return claim._replace(requirements=have, mask=mask)
        if not is_new:
            return Refusal(Cause.INSTANCE_TYPES, pool)
        # Why no type is left (InstanceTypeFilterError)
        wanted = tuple(item for key, item in sorted(have.items()) if key != HOSTNAME)
        left = (claim.mask & compatible, claim.mask & fitting, claim.mask & offered)
        unfit = Unfit(*left, wanted, tuple(sorted(requests.items())), tuple(sorted(missing)))
        return Refusal(Cause.MIN_VALUES if missing else Cause.INSTANCE_TYPES, pool, "", unfit)

    @staticmethod
    def _narrowed(
        turn: Turn, have: Requirements, *, is_new: bool, allowed: Collection[str] = ()
    ) -> Union[Requirements, Refusal]:
        """Return a node's requirements with what each group of the pod picks, independently of the others.

        Source: Topology.AddRequirements. If several groups find no domain, Karpenter names one of them at random.
        `allowed`: labels that the node may lack.
        """
        state, form, pod = turn.state, turn.form, turn.kind.pod
        failed: dict[Refusal, None] = {}
        options = []
        inverse = (counted for number, counted in state.groups.items() if number < 0 and counted[0].selects(pod))
        for group, counts in (*(state.groups[number] for number in form.owned), *inverse):
            pod_domains, node_domains = algebra.get(form.strict, group.key), algebra.get(have, group.key)
            domains = topology.picks(group, counts, pod_domains, node_domains, selects=group.selects(pod))
            if domains:
                options.append((group.key, domains))
            elif not is_new:
                return Refusal(group.cause)
            else:
                failed[Refusal(group.cause, "", group.key, _counts(counts, pod_domains, node_domains))] = None
        if failed:
            return list(failed)[turn.choose(len(failed))]
        picked = [requirement(key, "In", domains[turn.choose(len(domains))]) for key, domains in options]
        narrowed = algebra.of(picked, have)
        clash = algebra.clash(have, narrowed, allowed)
        return refusals.of_clash(clash, "") if clash else narrowed


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
