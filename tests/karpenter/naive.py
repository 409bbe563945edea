"""A second solver, written from the rules of the specification: plain objects in, one random round out.

It shares nothing with `provisioners`, and takes the slow way: every check is made again for every pod and place.
"""

from __future__ import annotations

import copy
import random
from typing import Any, Optional

Plain = dict[str, Any]
ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
POOL = "karpenter.sh/nodepool"
WELL_KNOWN = (
    *(POOL, ZONE, "topology.kubernetes.io/region", "node.kubernetes.io/instance-type", "kubernetes.io/arch"),
    *("kubernetes.io/os", "karpenter.sh/capacity-type", "node.kubernetes.io/windows-build"),
)
UNITS = {"m": 0.001, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


def amount(text: str) -> float:
    """A quantity as a number."""
    for unit, factor in UNITS.items():
        if text.endswith(unit):
            return float(text[: -len(unit)]) * factor
    return float(text)


class Values:
    """The values that a label may have: some, or all but some."""

    def __init__(self, operator: str, values: Any = ()) -> None:
        self.but = operator in ("NotIn", "Exists")
        self.named = set(values) if operator in ("In", "NotIn") else set()

    def allows(self, value: str) -> bool:
        return (value in self.named) != self.but

    def both(self, other: Values) -> Values:
        found = Values("Exists")
        found.but = self.but and other.but
        if found.but:
            found.named = self.named | other.named
        else:
            found.named = {value for value in self.named | other.named if self.allows(value) and other.allows(value)}
        return found

    def is_empty(self) -> bool:
        return not self.but and not self.named

    def is_negative(self) -> bool:
        return bool(self.but and self.named) or self.is_empty()

    def one(self) -> Optional[str]:
        return next(iter(self.named)) if not self.but and len(self.named) == 1 else None


Wants = dict[str, Values]


def wants(expressions: Any) -> Wants:
    """The requirements of match expressions."""
    found: Wants = {}
    for item in expressions or ():
        values = Values(item["operator"], item.get("values") or ())
        found[item["key"]] = found[item["key"]].both(values) if item["key"] in found else values
    return found


def of_labels(labels: Plain) -> Wants:
    """Labels as requirements."""
    return {key: Values("In", [value]) for key, value in labels.items()}


def joined(one: Wants, other: Wants) -> Wants:
    """Both requirements."""
    found = dict(one)
    for key, values in other.items():
        found[key] = found[key].both(values) if key in found else values
    return found


def meets(have: Wants, asked: Wants, known: tuple[str, ...] = ()) -> bool:
    """Whether a node side satisfies a pod side."""
    for key, values in asked.items():
        if key not in have:
            if key not in known and not values.is_negative():
                return False
        elif have[key].both(values).is_empty() and not (have[key].is_negative() and values.is_negative()):
            return False
    return True


def tolerates(tolerations: list[Plain], taints: list[Plain]) -> bool:
    """Whether all taints are tolerated, soft ones included."""

    def covers(toleration: Plain, taint: Plain) -> bool:
        if toleration.get("effect") and toleration["effect"] != taint["effect"]:
            return False
        if toleration.get("key") and toleration["key"] != taint["key"]:
            return False
        return toleration.get("operator") == "Exists" or toleration.get("value", "") == taint.get("value", "")

    return all(any(covers(item, taint) for item in tolerations) for taint in taints)


def selects(selector: Optional[Plain], labels: Plain) -> bool:
    """Whether matchLabels and matchExpressions (In) hold; no selector selects nothing."""
    if selector is None:
        return False
    named = all(labels.get(key) == value for key, value in (selector.get("matchLabels") or {}).items())
    return named and all(labels.get(item["key"]) in item["values"] for item in selector.get("matchExpressions") or ())


def requests(spec: Plain) -> dict[str, float]:
    """What a pod takes of its node."""
    found: dict[str, float] = {"pods": 1}
    for container in spec["containers"]:
        for name, text in container["resources"]["requests"].items():
            found[name] = found.get(name, 0) + amount(text)
    return found


def affinity(spec: Plain, kind: str, strength: str) -> list[Plain]:
    """The terms of an affinity."""
    found = ((spec.get("affinity") or {}).get(kind) or {}).get(f"{strength}DuringSchedulingIgnoredDuringExecution")
    if found is None:
        return []
    return list(found["nodeSelectorTerms"]) if isinstance(found, dict) else list(found)


class Group:
    """A constraint or a term, with its counts."""

    def __init__(self, kind: str, term: Plain, pod: Plain, skew: int = 0) -> None:
        spec, labels = pod["spec"], pod["metadata"]["labels"]
        self.kind, self.key, self.skew = kind, term["topologyKey"], skew
        self.selector = copy.deepcopy(term.get("labelSelector"))
        self.tolerations = list(spec.get("tolerations") or ())
        self.least = term.get("minDomains") or 0
        self.honors_affinity = kind == "spread" and term.get("nodeAffinityPolicy", "Honor") == "Honor"
        self.honors_taints = kind == "spread" and term.get("nodeTaintsPolicy", "Ignore") == "Honor"
        for key in term.get("matchLabelKeys") or ():
            if key in labels and self.selector is not None:
                more = {"key": key, "operator": "In", "values": [labels[key]]}
                self.selector.setdefault("matchExpressions", []).append(more)
        chosen = of_labels(spec.get("nodeSelector") or {})
        terms = affinity(spec, "nodeAffinity", "required")
        self.terms = [joined(chosen, wants(one.get("matchExpressions"))) for one in terms] or [chosen]
        self.counts: dict[str, int] = {}

    def same(self, other: Group) -> bool:
        """Equal but for minDomains and the values in the node filter: of its terms only the keys are compared."""
        if (self.kind, self.key, self.skew, self.selector) != (other.kind, other.key, other.skew, other.selector):
            return False
        if self.kind != "spread":
            return True
        policies = (self.honors_affinity, self.honors_taints) == (other.honors_affinity, other.honors_taints)
        return policies and self.parity() == other.parity() and self.tolerated() == other.tolerated()

    def parity(self) -> list[list[str]]:
        """The keys of each term; two equal ones cancel out."""
        found: list[list[str]] = []
        for term in self.terms:
            keys = sorted(term)
            if keys in found:
                found.remove(keys)
            else:
                found.append(keys)
        return sorted(found)

    def tolerated(self) -> list[str]:
        return sorted(str(sorted(item.items())) for item in self.tolerations)

    def counts_node(self, taints: list[Plain], have: Wants) -> bool:
        if self.honors_taints and not tolerates(self.tolerations, taints):
            return False
        return not self.honors_affinity or any(meets(have, term) for term in self.terms)

    def pick(self, draw: random.Random, selected: bool, asked: Values, reached: Values) -> Optional[set[str]]:
        """The domains that the node is narrowed to; None if there is none."""
        host = next(iter(reached.named)) if self.key == HOST and len(reached.named) == 1 else None
        open_domains = [value for value in self.counts if reached.allows(value)]
        if self.kind == "spread":
            if host is not None:
                return {host} if self.counts.get(host, 0) + selected <= self.skew else None
            own = [number for value, number in self.counts.items() if asked.allows(value)]
            least = 0 if len(own) < self.least or self.key == HOST else min(own, default=10**9)
            fit = [value for value in open_domains if self.counts[value] + selected - least <= self.skew]
            best = min((self.counts[value] for value in fit), default=0)
            equal = sorted(value for value in fit if self.counts[value] == best)
            return {draw.choice(equal)} if equal else None
        if self.kind == "anti":
            if host is not None:
                return {host} if not self.counts.get(host, 0) else None
            return {value for value in open_domains if not self.counts[value] and asked.allows(value)} or None
        begins = selected and not any(number and asked.allows(value) for value, number in self.counts.items())
        if host is not None:
            return {host} if asked.allows(host) and (self.counts.get(host, 0) or begins) else None
        found = {value for value in open_domains if self.counts[value] and asked.allows(value)}
        if found or not begins:
            return found or None
        first = sorted(value for value in open_domains if asked.allows(value))
        second = sorted(value for value in self.counts if asked.allows(value))
        return {draw.choice(each) for each in (first, second) if each} or None


class Place:
    """A node that exists, or one that is invented."""

    def __init__(self, name: str, have: Wants, taints: list[Plain]) -> None:
        self.name, self.have, self.taints = name, have, taints
        self.free: dict[str, float] = {}
        self.used: dict[str, float] = {}
        self.types: list[Plain] = []
        self.pool = ""
        self.node: Optional[Plain] = None
        self.pods: list[Plain] = []


class Twin:
    """One round, with random draws."""

    def __init__(self, objects: list[Plain], table: list[Plain], seed: int) -> None:
        self.draw = random.Random(seed)
        self.table = table
        of = {kind: [item for item in objects if item["kind"] == kind] for kind in {item["kind"] for item in objects}}
        pools = sorted(of.get("NodePool", []), key=lambda item: item["metadata"]["name"], reverse=True)
        self.pools = sorted(pools, key=lambda item: -(item["spec"].get("weight") or 0))
        self.storage = {(item["kind"], item["metadata"]["name"]): item for item in objects}
        self.nodes = {item["metadata"]["name"]: item for item in of.get("Node", [])}
        pods = of.get("Pod", [])
        self.running = [pod for pod in pods if pod["spec"].get("nodeName")]
        self.waiting = [pod for pod in pods if not pod["spec"].get("nodeName")]
        self.daemons = [item["spec"]["template"] for item in of.get("DaemonSet", [])]
        self.groups: list[Group] = []
        self.inverse: list[Group] = []
        self.left: dict[str, dict[str, float]] = {}
        self.places: list[Place] = []
        self.made: list[Place] = []
        self.failed: list[str] = []

    # What pools could give.

    def template(self, pool: Plain) -> Wants:
        spec = pool["spec"]["template"]["spec"]
        labels = {**pool["spec"]["template"]["metadata"]["labels"], POOL: pool["metadata"]["name"]}
        reference = spec["nodeClassRef"]
        labels[f"{reference['group']}/{reference['kind'].lower()}"] = reference["name"]
        return joined(wants(spec["requirements"]), of_labels(labels))

    def taints(self, pool: Plain) -> list[Plain]:
        return list(pool["spec"]["template"]["spec"].get("taints") or ())

    def domains(self, group: Group) -> dict[str, int]:
        found: dict[str, int] = {}
        for pool in self.pools:
            if (group.kind != "spread" or group.honors_taints) and not tolerates(group.tolerations, self.taints(pool)):
                continue
            spec = pool["spec"]["template"]
            allowed = joined(wants(spec["spec"]["requirements"]), of_labels(spec["metadata"]["labels"]))
            named = [allowed[group.key]] if group.key in allowed and not allowed[group.key].but else []
            for item in self.table:
                both = joined(allowed, wants(item["requirements"]))
                named += [both[group.key]] if group.key in both else []
            found.update({value: 0 for values in named for value in values.named})
        return found

    def fits(self, item: Plain, have: Wants, used: dict[str, float]) -> bool:
        """Whether a type agrees with requirements, holds the pods, and is sold."""
        if not meets(joined(have, {}), {key: each for key, each in wants(item["requirements"]).items() if key in have}):
            return False
        room = {name: amount(text) - amount(item["overhead"].get(name, "0")) for name, text in item["capacity"].items()}
        if any(need > room.get(name, 0) + 1e-9 for name, need in used.items()):
            return False
        for offer in item["offerings"]:
            sold = {
                ZONE: Values("In", [offer["zone"]]),
                "karpenter.sh/capacity-type": Values("In", [offer["capacityType"]]),
            }
            if offer["available"] and meets(have, {key: each for key, each in sold.items() if key in have}):
                return True
        return False

    # The round.

    def run(self) -> Plain:
        self.draw.shuffle(self.waiting)
        for pod in self.running:
            for term in affinity(pod["spec"], "podAntiAffinity", "required"):
                group = self.known(self.inverse, Group("anti", term, pod))
                domain = self.nodes[pod["spec"]["nodeName"]]["metadata"]["labels"].get(group.key)
                if domain is not None:
                    group.counts[domain] = group.counts.get(domain, 0) + 1
        for pod in self.waiting:
            for term in affinity(pod["spec"], "podAntiAffinity", "required"):
                self.known(self.inverse, Group("anti", term, pod))
            self.owned(pod)
        for name in sorted(self.nodes):
            self.places.append(self.existing(self.nodes[name]))
        for pool in self.pools:
            if pool["spec"].get("limits") is not None:
                self.left[pool["metadata"]["name"]] = {
                    key: amount(str(text)) for key, text in pool["spec"]["limits"].items()
                }
        for node in self.nodes.values():
            limits = self.left.get(node["metadata"]["labels"].get(POOL, ""), {})
            for name in limits:
                limits[name] -= 1 if name == "nodes" else amount(node["status"]["capacity"].get(name, "0"))
        order = list(self.waiting)
        self.draw.shuffle(order)
        order.sort(key=lambda pod: (-requests(pod["spec"])["cpu"], -requests(pod["spec"])["memory"]))
        pushed: dict[str, int] = {}
        while order and pushed.get(order[0]["metadata"]["name"]) != len(order):
            pod = order.pop(0)
            if not self.placed(copy.deepcopy(pod)):
                order.append(pod)
                pushed[pod["metadata"]["name"]] = len(order)
        self.failed = [pod["metadata"]["name"] for pod in order]
        return self.outcome()

    def known(self, groups: list[Group], group: Group) -> Group:
        """The group of the same identity that came first; a new one counts running pods."""
        for other in groups:
            if other.same(group):
                return other
        group.counts = self.domains(group)
        if groups is self.groups:
            self.count(group)
        groups.append(group)
        return group

    def count(self, group: Group) -> None:
        for node in self.nodes.values():
            labels = node["metadata"]["labels"]
            if group.key in labels and group.counts_node(node["spec"].get("taints") or [], of_labels(labels)):
                group.counts.setdefault(labels[group.key], 0)
        for pod in self.running:
            node = self.nodes[pod["spec"]["nodeName"]]
            labels = node["metadata"]["labels"]
            domain = labels.get(group.key) or (node["metadata"]["name"] if group.key == HOST else None)
            if pod["metadata"].get("deletionTimestamp") or domain is None:
                continue
            if group.selector is not None and not selects(group.selector, pod["metadata"]["labels"]):
                continue
            if group.counts_node(node["spec"].get("taints") or [], of_labels(labels)):
                group.counts[domain] = group.counts.get(domain, 0) + 1

    def owned(self, pod: Plain) -> list[Group]:
        spec = pod["spec"]
        found = [Group("spread", item, pod, item["maxSkew"]) for item in spec.get("topologySpreadConstraints") or ()]
        for kind, name in (("affinity", "podAffinity"), ("anti", "podAntiAffinity")):
            terms = affinity(spec, name, "required")
            terms += [item["podAffinityTerm"] for item in affinity(spec, name, "preferred")]
            found += [Group(kind, term, pod) for term in terms]
        return [self.known(self.groups, group) for group in found]

    def existing(self, node: Plain) -> Place:
        labels, name = node["metadata"]["labels"], node["metadata"]["name"]
        host = labels.get(HOST) or name
        place = Place(name, joined(of_labels(labels), of_labels({HOST: host})), node["spec"].get("taints") or [])
        place.node = node
        used: dict[str, float] = {}
        coming: dict[str, float] = {}
        for pod in self.running:
            if pod["spec"]["nodeName"] == name:
                for key, number in requests(pod["spec"]).items():
                    used[key] = used.get(key, 0) + number
        for daemon in self.daemons:
            fits = meets(of_labels(labels), of_labels(daemon["spec"].get("nodeSelector") or {}))
            if fits and tolerates(self.daemon_tolerations(daemon), place.taints):
                for key, number in requests(daemon["spec"]).items():
                    coming[key] = coming.get(key, 0) + number
        for key, text in node["status"]["allocatable"].items():
            place.free[key] = amount(text) - used.get(key, 0) - coming.get(key, 0)
        for group in (*self.groups, *self.inverse):
            if group.key == HOST:
                group.counts.setdefault(host, 0)
        return place

    def daemon_tolerations(self, daemon: Plain) -> list[Plain]:
        return [*(daemon["spec"].get("tolerations") or ()), {"operator": "Exists", "effect": "PreferNoSchedule"}]

    def placed(self, pod: Plain) -> bool:
        """Place a pod, giving up one preference after another."""
        while True:
            if self.add(pod):
                return True
            if not self.relax(pod["spec"]):
                return False

    def relax(self, spec: Plain) -> bool:
        terms = affinity(spec, "nodeAffinity", "required")
        if len(terms) > 1:
            required = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
            required["nodeSelectorTerms"] = terms[1:]
            return True
        for kind in ("podAffinity", "podAntiAffinity", "nodeAffinity"):
            soft = affinity(spec, kind, "preferred")
            if soft:
                soft.sort(key=lambda item: -item["weight"])
                spec["affinity"][kind]["preferredDuringSchedulingIgnoredDuringExecution"] = soft[1:]
                return True
        constraints = spec.get("topologySpreadConstraints") or []
        for at, item in enumerate(constraints):
            if item["whenUnsatisfiable"] == "ScheduleAnyway":
                constraints[at] = constraints[-1]
                constraints.pop()
                return True
        any_soft = any(taint["effect"] == "PreferNoSchedule" for pool in self.pools for taint in self.taints(pool))
        wildcard = {"operator": "Exists", "effect": "PreferNoSchedule"}
        if any_soft and wildcard not in (spec.get("tolerations") or []):
            spec["tolerations"] = [*(spec.get("tolerations") or []), wildcard]
            return True
        return False

    def asked(self, spec: Plain, *, strict: bool) -> Wants:
        found = of_labels(spec.get("nodeSelector") or {})
        soft = sorted(affinity(spec, "nodeAffinity", "preferred"), key=lambda item: -item["weight"])
        if soft and not strict:
            found = joined(found, wants(soft[0]["preference"].get("matchExpressions")))
        terms = affinity(spec, "nodeAffinity", "required")
        return joined(found, wants(terms[0].get("matchExpressions"))) if terms else found

    def volumes(self, spec: Plain) -> list[Wants]:
        found: list[Wants] = [{}]
        for volume in spec.get("volumes") or ():
            claim = self.storage["PersistentVolumeClaim", volume["persistentVolumeClaim"]["claimName"]]
            stored = self.storage["PersistentVolume", claim["spec"]["volumeName"]]
            terms = stored["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
            found = [joined(one, wants(term["matchExpressions"])) for one in found for term in terms]
        return found

    def add(self, pod: Plain) -> bool:
        groups = self.owned(pod)
        for place in self.places:
            if any(number > place.free.get(key, 0) + 1e-9 for key, number in requests(pod["spec"]).items()):
                continue
            if min(place.free.values()) < 0:
                continue
            have = self.narrowed(pod, place, groups, ())
            if have is not None:
                for key, number in requests(pod["spec"]).items():
                    place.free[key] = place.free.get(key, 0) - number
                self.put(pod, place, have)
                return True
        self.made.sort(key=lambda place: len(place.pods))
        for place in self.made:
            if self.onto(pod, place, groups):
                return True
        for pool in self.pools:
            place = self.new(pool)
            if place.types and self.onto(pod, place, groups):
                self.made.append(place)
                limits = self.left.get(place.pool, {})
                for name in limits:
                    if name != "nodes":
                        limits[name] -= max(amount(item["capacity"].get(name, "0")) for item in place.types)
                return True
        return False

    def new(self, pool: Plain) -> Place:
        name = pool["metadata"]["name"]
        host = f"new-{len(self.made)}"
        place = Place(host, joined(self.template(pool), of_labels({HOST: host})), self.taints(pool))
        place.pool = name
        limits = self.left.get(name, {})
        if limits.get("nodes") == 0:
            return place
        template = self.template(pool)
        place.types = [
            item
            for item in self.table
            if self.fits(item, template, {})
            and all(
                (0 if key == "nodes" else amount(item["capacity"].get(key, "0"))) <= left
                for key, left in limits.items()
            )
        ]
        for daemon in self.daemons:
            selector = of_labels(daemon["spec"].get("nodeSelector") or {})
            if meets(template, selector, WELL_KNOWN) and tolerates(self.daemon_tolerations(daemon), place.taints):
                for key, number in requests(daemon["spec"]).items():
                    place.used[key] = place.used.get(key, 0) + number
        return place

    def onto(self, pod: Plain, place: Place, groups: list[Group]) -> bool:
        used = dict(place.used)
        for key, number in requests(pod["spec"]).items():
            used[key] = used.get(key, 0) + number
        for volume in self.volumes(pod["spec"]):
            have = self.narrowed(pod, place, groups, WELL_KNOWN, volume)
            types = [] if have is None else [item for item in place.types if self.fits(item, have, used)]
            if have is not None and types:
                place.used, place.types = used, types
                for group in (*self.groups, *self.inverse):
                    if group.key == HOST:
                        group.counts.setdefault(place.name, 0)
                self.put(pod, place, have)
                return True
        return False

    def narrowed(
        self, pod: Plain, place: Place, groups: list[Group], known: tuple[str, ...], volume: Optional[Wants] = None
    ) -> Optional[Wants]:
        """The requirements of a place with a pod; None if it does not fit."""
        spec = pod["spec"]
        if not tolerates(spec.get("tolerations") or [], place.taints):
            return None
        if not meets(place.have, self.asked(spec, strict=False), known):
            return None
        base = joined(place.have, self.asked(spec, strict=False))
        for alternative in self.volumes(spec) if volume is None else [volume]:
            if not meets(base, alternative, known):
                continue
            have = joined(base, alternative)
            strict = self.asked(spec, strict=True)
            found = dict(have)
            matching = [*groups, *(one for one in self.inverse if selects(one.selector, pod["metadata"]["labels"]))]
            for group in dict.fromkeys(matching):
                asked, reached = (each.get(group.key, Values("Exists")) for each in (strict, have))
                selected = selects(group.selector, pod["metadata"]["labels"])
                picked = group.pick(self.draw, selected, asked, reached)
                if picked is None:
                    break
                found = joined(found, {group.key: Values("In", picked)})
            else:
                if meets(have, found, known):
                    return joined(have, found)
        return None

    def put(self, pod: Plain, place: Place, have: Wants) -> None:
        place.have = have
        place.pods.append(pod)
        for group in self.groups:
            values = have.get(group.key, Values("Exists"))
            if not selects(group.selector, pod["metadata"]["labels"]) or not group.counts_node(place.taints, have):
                continue
            one = values.one()
            for value in values.named if group.kind == "anti" else [] if one is None else [one]:
                group.counts[value] = group.counts.get(value, 0) + 1
        mine = [Group("anti", term, pod) for term in affinity(pod["spec"], "podAntiAffinity", "required")]
        for group in self.inverse:
            if any(group.same(other) for other in mine):
                for value in have.get(group.key, Values("Exists")).named:
                    group.counts[value] = group.counts.get(value, 0) + 1

    def outcome(self) -> Plain:
        def workloads(pods: list[Plain]) -> list[str]:
            return sorted(pod["metadata"]["name"].rpartition("-")[0] for pod in pods)

        return {
            "new": sorted(
                [place.pool, sorted(item["name"] for item in place.types), self.zones(place), workloads(place.pods)]
                for place in self.made
            ),
            "existing": {place.name: workloads(place.pods) for place in self.places if place.pods},
            "failed": sorted(name.rpartition("-")[0] for name in self.failed),
        }

    def zones(self, place: Place) -> list[str]:
        allowed = place.have.get(ZONE, Values("Exists"))
        kinds = place.have.get("karpenter.sh/capacity-type", Values("Exists"))
        offers = [offer for item in place.types for offer in item["offerings"] if offer["available"]]
        return sorted({o["zone"] for o in offers if allowed.allows(o["zone"]) and kinds.allows(o["capacityType"])})
