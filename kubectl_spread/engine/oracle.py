"""Scheduler for many states of one cluster.

One scheduler exists per version of the cluster facts. Between states, pods are bound and removed, and its plugins
follow. An answer is cached by the pods on which it depends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, Optional

import numpy as np

from kubectl_spread.cluster.snapshot import DisruptionBudget
from kubectl_spread.engine import budgets
from kubectl_spread.engine.claims import Made, note_attachments, storage_of
from kubectl_spread.engine.draft import Draft
from kubectl_spread.engine.search.node_tree import affinity_terms
from kubectl_spread.engine.search.symmetry import Arrangement, Symmetry
from kubectl_spread.engine.state import Deletion, forget_refusals, P, PENDING, State, Step
from kubectl_spread.engine.world import World
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import GATED, Pod, PodClass
from kubectl_spread.scheduler.cycle import Scheduler, Scores, unsupported_features
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.framework.plugin import ScoreError
from kubectl_spread.scheduler.preemption import dry_run, post_filter, preference

_MOST_NODES = 64  # With more nodes, few questions are equal, and the order takes longer than the answer.


class Questions:
    """Finds equal questions about the nodes for a pod."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._arrangements: dict[tuple[int, Any], Arrangement] = {}
        self._numbered = 0
        self._traits: frozenset[Any] = frozenset()
        self._like: list[int] = []
        self._like_at: dict[PodClass, int] = {}

    def question(
        self, pod: P, state: State, without: tuple[P, ...] = ()
    ) -> Optional[tuple[tuple[Any, ...], Optional[list[int]]]]:
        """Return a key that is equal for equal questions for a waiting pod, and the nodes in the order of the key.

        None if names matter, so that only equal states are equal questions. `without` are pods to ignore, as if they
        were gone.
        """
        if state.claims or len(self._world.node_names) > _MOST_NODES or not self._world.classes[pod.cls].constraints:
            return None
        if self._world.classes[pod.cls].node_affinity.required:
            return None
        self._number()
        # The pods of each node as the scheduler sees them, as sorted numbers
        like = self._like
        contents: dict[int, list[int]] = {}
        for each in state.pods:
            node = each.node
            if node == PENDING:
                if each.nominated != PENDING:
                    return None
                continue
            end = each.end
            number = 3 * like[each.cls] + (_SEEN_END[end] if end else 0)
            if node in contents:
                contents[node].append(number)
            else:
                contents[node] = [number]
        for each in [item for item in without if item.node != PENDING]:
            contents[each.node].remove(3 * like[each.cls] + _SEEN_END[each.end])
        for numbers in contents.values():
            if len(numbers) > 1:
                numbers.sort()
        key = (state.facts, self._traits)
        if key not in self._arrangements:
            self._arrangements[key] = Symmetry(self._world, State((), (), state.facts)).nodes
        order = self._arrangements[key].order(contents)
        seen = tuple([tuple(contents[node]) if node in contents else None for node in order])
        return (pod.cls, state.facts, self._traits, seen), order

    def likeness(self, cls: int) -> int:
        """Return a number that is equal for classes whose bound pods are equal to the scheduler of another pod."""
        self._number()
        return self._like[cls]

    def _number(self) -> None:
        """Number the classes: equal ones differ in owners, labels that nothing selects, and what their nodes need."""
        classes = self._world.classes
        if self._numbered == len(classes):
            return
        traits = frozenset(trait for cls in (*classes, *self._world.background_affinities) for trait in _traits(cls))
        if traits != self._traits:
            self._traits, self._like, self._like_at = traits, [], {}
        visible = {trait[1] for trait in traits if trait[0] == "selected"}
        for cls in classes[len(self._like) :]:
            labels = tuple(label for label in cls.labels if label[0] in visible)
            bare = cls._replace(labels=labels, owner=None, owner_uid="", tolerations=(), constraints=())
            self._like.append(self._like_at.setdefault(bare, len(self._like)))
        self._numbered = len(classes)


_SEEN_END: dict[int, int] = {  # deletion states that the scheduler distinguishes
    Deletion.ALIVE: Deletion.ALIVE,
    Deletion.TERMINATING: Deletion.TERMINATING,
    Deletion.PREEMPTED: Deletion.PREEMPTED,
    Deletion.HELD: Deletion.TERMINATING,
    Deletion.OVERDUE: Deletion.TERMINATING,
}


def _traits(cls: PodClass) -> Iterator[tuple[Any, ...]]:
    """Yield the parts of a class that make labels of pods, or nodes, different."""
    for item in cls.constraints:
        yield "key", item.topology_key
        for key in (*item.selected_keys, *item.match_label_keys):
            yield "selected", key
    for term in affinity_terms(cls):
        yield "key", term.topology_key
        for requirement in term.selector.requirements or ():
            yield "selected", requirement.key
    yield "nodes", cls.node_selector
    yield "affinity", cls.node_affinity


_LONGEST_LOG = 100_000  # Most bindings and removals before a scheduler is rebuilt.

_MOST_SCHEDULERS = 64

_MANY_KINDS = 500  # Pods of more kinds than this are a large state.

_MOST_OPTIONS = 5000  # Most remembered preemptions.

_NOMINATED = itemgetter(P._fields.index("nominated"))

_KIND = itemgetter(*map(P._fields.index, ("cls", "node", "end")))

_Key = tuple[int, int, int]  # class, node, deletion state for the scheduler

Seen = frozenset[tuple[_Key, int]]  # pods of each kind


class MorePods(Exception):  # noqa: N818 (no error: the world has to be made with more pods)
    """Background pods that take part after all: pods of the workloads `keys`, and all pods on `nodes`."""

    def __init__(self, keys: frozenset[ObjectKey], nodes: frozenset[str]) -> None:
        super().__init__(keys, nodes)
        self.keys, self.nodes = keys, nodes


class PreemptionOption(NamedTuple):
    """A way to make room: a node, and the pods to evict."""

    node: int
    victims: tuple[P, ...]


class Oracle:
    """Scheduler's answers for every state of a world."""

    def __init__(self, world: World, *, all_nodes: bool = True) -> None:
        """Set up the scheduler of a world.

        Args:
            world: the nodes and classes of pods.
            all_nodes: look at every node; otherwise only `ask` is right in a large cluster, for states in their order.
        """
        self._world = world
        self._all_nodes = all_nodes
        self._schedulers: dict[tuple[int, int, Made], _Kept] = {}
        self._answers: dict[tuple[object, ...], tuple[int, ...]] = {}  # by question, perhaps as places in its order
        self._predictable: dict[int, bool] = {}
        self._options: dict[tuple[P, State], tuple[PreemptionOption, ...]] = {}
        self._last_seen: tuple[tuple[P, ...], Seen] = ((), frozenset())
        self.questions = Questions(world)

    def hosts(self, pod: P, state: State, *, without: tuple[P, ...] = ()) -> tuple[int, ...]:
        """Return the nodes to which a pending pod may be bound, all equally good; none if it stays Pending.

        Args:
            pod: the pod.
            state: the current state.
            without: pods to ignore, as if they were gone.
        """
        if not self.is_predictable(pod, state):
            return ()
        question = self.questions.question(pod, state, without)
        if question is None:
            nominated = tuple([(other.cls, other.nominated) for other in _nominated(state.pods)])
            seen = self._seen(state.pods, without)
            question = (pod.cls, pod.nominated, state.facts, state.claims, seen, nominated), None
        key, order = question
        found = self._answers.get(key)
        if found is None:
            seen = self._seen(state.pods, without)
            if len(seen) > _MANY_KINDS:
                self._answers.clear()  # perf: the keys would fill the memory, and such states hardly come again
            hosts = self._ask(pod, state, seen)
            found = self._answers[key] = hosts if order is None else tuple([order.index(node) for node in hosts])
        return found if order is None else tuple(sorted([order[place] for place in found]))

    def ask(self, pod: P, state: State) -> tuple[int, ...]:
        """Return the same as `hosts`, without remembering the answer: for searches that ask once."""
        return self._ask(pod, state, self._seen(state.pods)) if self.is_predictable(pod, state) else ()

    def _seen(self, pods: tuple[P, ...], without: tuple[P, ...] = ()) -> Seen:
        if without:
            return _seen(pods, without)
        if pods is not self._last_seen[0]:  # perf: every waiting pod of a state asks
            self._last_seen = (pods, _seen(pods))
        return self._last_seen[1]

    def _ask(self, pod: P, state: State, seen: Seen) -> tuple[int, ...]:
        kept, api_pod, filtered = self._filtered(pod, state, seen)
        if not filtered.feasible.any():
            return ()
        if self._world.is_widened:
            return kept.world_nodes(np.flatnonzero(filtered.feasible).tolist())
        try:
            found = kept.scheduler.hosts(api_pod, filtered)
        except ScoreError:
            return ()
        return kept.world_nodes(found.tolist())

    def score(self, pod: P, state: State) -> Scores:
        """Return the feasible nodes of a pending pod with their scores; none if it cannot be predicted.

        Raises:
            ScoreError: a plugin fails, and the scheduler would not place the pod.
        """
        if not self.is_predictable(pod, state):
            return Scores(np.zeros(0, np.intp))
        kept, api_pod, filtered = self._filtered(pod, state, self._seen(state.pods))
        feasible = np.flatnonzero(filtered.feasible)
        scores = Scores(feasible, total=np.zeros(len(feasible), np.int64))  # of a single one, or where any may be taken
        if len(feasible) > 1 and not self._world.is_widened:
            scores = kept.scheduler.score(api_pod, filtered)
        return scores._replace(nodes=np.array([kept.world_node[at] for at in feasible.tolist()], np.intp))

    def evictions(self, pod: P, state: State) -> tuple[PreemptionOption, ...]:
        """Return the ways in which preemption may make room for a pod that fits on no node, all equally good."""
        if not self.is_predictable(pod, state) or not self._has_lower(pod, state):
            return ()
        key = (pod._replace(is_tried=False), forget_refusals(state))
        found = self._options.get(key)
        if found is None:
            if len(self._options) >= _MOST_OPTIONS:
                self._options.clear()
            found = self._options[key] = self._dry_run(pod, state)
        return found

    def _dry_run(self, pod: P, state: State) -> tuple[PreemptionOption, ...]:
        kept, api_pod, filtered = self._refused(pod, state)
        if filtered.rejection is not None:
            return ()
        found = dry_run(api_pod, filtered, kept.scheduler)
        if found.chosen is None:
            return ()
        best = preference(found.chosen)
        ways = [item for item in found.candidates if preference(item) == best]
        pods = kept.state_pods()
        keys, nodes = set[ObjectKey](), set[str]()  # of victims that must take part
        for victim in (victim for item in ways for victim in item.victims if victim.uid not in pods):
            owner = self._world.cluster.top_owner(victim)
            nodes.update((victim.node_name,) if owner is None else ())
            keys.update(() if owner is None else (owner,))
        if keys or nodes:
            raise MorePods(frozenset(keys), frozenset(nodes))
        return tuple(
            PreemptionOption(
                kept.world_node[kept.columns.index[item.node]],
                tuple(pods[victim.uid] for victim in item.victims if victim.uid in pods),
            )
            for item in ways
        )

    def may_preempt(self, pod: P, state: State) -> bool:
        """Return whether preemption would make room for a pod that fits on no node, by the budgets of the facts."""
        if not self.is_predictable(pod, state) or not self._has_lower(pod, state):
            return False
        kept, api_pod, filtered = self._filtered(pod, state, self._seen(state.pods))
        return filtered.rejection is None and dry_run(api_pod, filtered, kept.scheduler).chosen is not None

    def loses_nomination(self, pod: P, state: State) -> bool:
        """Return whether a nominated pod that fits on no node and may evict none gives up its node.

        It keeps the node while it waits for the end of its victims there.
        """
        kept, api_pod, filtered = self._refused(pod, state)
        found = dry_run(api_pod, filtered, kept.scheduler)
        return not found.not_eligible and found.chosen is None

    def _has_lower(self, pod: P, state: State) -> bool:
        """Return whether a bound pod has a lower priority."""
        classes = self._world.classes
        priority = classes[pod.cls].priority
        if any(other.node != PENDING and classes[other.cls].priority < priority for other in state.pods):
            return True
        return self._world.lowest < priority

    def message(self, pod: P, state: State) -> str:
        """Return the scheduler's message about a pod that fits on no node; empty if a node fits."""
        cls = self._world.classes[pod.cls]
        if cls.gates:
            return GATED
        if cls.scheduler_name not in self._world.profiles:
            return ""
        kept, api_pod, filtered = self._refused(pod, state)
        if filtered.feasible.any():
            return ""
        sizes = {name: len(nodes) for name, nodes in self._world.merged.items()}
        found = post_filter(api_pod, filtered, kept.scheduler, sizes=sizes)
        return filtered.diagnosis()._replace(sizes=sizes).message(found.message)

    def _filtered(self, pod: P, state: State, seen: Seen) -> tuple[_Kept, Pod, FilterResult]:
        """Return the scheduler with the pods of a state, the pod as it sees it, and the verdicts of its filters."""
        kept = self._kept(state)
        kept.show(seen, state.pods)
        api_pod = kept.pod(pod)
        return kept, api_pod, kept.scheduler.filter(api_pod)

    def _refused(self, pod: P, state: State) -> tuple[_Kept, Pod, FilterResult]:
        """Return the same for preemption, which asks the budgets."""
        found = self._filtered(pod, state, self._seen(state.pods))
        found[0].allow(budgets.current_budgets(self._world, state))
        return found

    def is_predictable(self, pod: P, state: State) -> bool:
        """Return whether the scheduler handles pods like this, and every feature that decides is evaluated here."""
        found = self._predictable.get(pod.cls)
        if found is None:
            world, pod_class = self._world, self._world.classes[pod.cls]
            cluster = world.facts[state.facts].cluster
            beyond = unsupported_features(pod_class, world.profiles.get(pod_class.scheduler_name), cluster)
            for what in beyond:
                owner = pod_class.owner
                text = f"{what} of the pods of {'a pod' if owner is None else f'{owner.kind} {owner.name}'}"
                if pod.owner >= 0:
                    world.leave_out(text, world.keys[pod.owner])
                elif pod.is_new:
                    world.leave_out(text)
                else:
                    world.notes[text] = None
            found = self._predictable[pod.cls] = not beyond and not pod_class.gates
        return found

    def reserve(self, pod: P, node: int, state: State) -> Made:
        """Return the state of claims after a pod is bound to a node."""
        if not self._world.classes[pod.cls].volumes:
            return state.claims
        note_attachments(self._world, state, pod, node)
        return self._kept(state).reserve(pod, node, state)

    def bind(self, state: State, pod: P, node: int, *, others: int) -> Step:
        """Return the step that binds a pod, with the claims that are bound with it; no controller waits for a binding.

        `others` is the number of other nodes that were equally good.
        """
        draft = Draft(self._world, state)
        draft.claims = self.reserve(pod, node, state)
        draft.bind(pod, node, others=others)
        return draft.step()

    def _kept(self, state: State) -> _Kept:
        key = (len(self._world.revisions), state.facts, state.claims)
        found = self._schedulers.get(key)
        if found is None or len(found.columns.bound_pods) > _LONGEST_LOG:
            if len(self._schedulers) >= _MOST_SCHEDULERS:
                del self._schedulers[next(iter(self._schedulers))]
            found = self._schedulers[key] = _Kept(self._world, state, all_nodes=self._all_nodes)
        return found


class _Kept:
    """A scheduler for one version of the facts, with its current pods."""

    def __init__(self, world: World, state: State, *, all_nodes: bool = True) -> None:
        self._world = world
        facts = world.facts[state.facts]
        cluster = facts.cluster._replace(storage=storage_of(world, state))
        self.columns = world.columns(cluster)
        self.scheduler = Scheduler(self.columns, world.profiles, all_nodes=all_nodes)
        self.world_node = [world.node_at[node.name] for node in cluster.nodes]
        self._column = {at: self.columns.index[node.name] for at, node in enumerate(facts.nodes) if node is not None}
        self._shown: dict[_Key, list[Pod]] = {}
        self._seen: Seen = frozenset()
        self._made = 0
        self._nominated: tuple[P, ...] = ()
        self._pods: Sequence[P] = ()
        self._cluster = self.columns.cluster

    def world_nodes(self, columns: list[int]) -> tuple[int, ...]:
        """Return nodes by their indices in the world instead of those in the columns."""
        return tuple([self.world_node[at] for at in columns])

    def show(self, seen: Seen, pods: tuple[P, ...]) -> None:
        """Bind and remove pods until the scheduler sees the pods of a state."""
        if seen != self._seen:
            wanted = dict(sorted(seen - self._seen))  # kinds whose number is another one, with that number
            for key in sorted(key for key, _ in self._seen - seen):
                shown = self._shown.get(key, [])
                for _ in range(len(shown) - wanted.get(key, 0)):
                    self.columns.unbind(shown.pop(), self._column[key[1]])
            for key, count in wanted.items():
                (cls, node, end), shown = key, self._shown.setdefault(key, [])
                for _ in range(count - len(shown) if node in self._column else 0):
                    self._made += 1
                    name = f"pod-{self._made}"
                    pod = Pod(
                        name,
                        name,
                        self._world.classes[cls],
                        self._world.node_names[node],
                        terminating=end != Deletion.ALIVE,
                        is_preempted=end == Deletion.PREEMPTED,
                    )
                    self.columns.bind(pod, self._column[node])
                    shown.append(pod)
            self._seen = seen
        self._pods = pods
        nominated = tuple(_nominated(pods))
        if nominated != self._nominated:
            self._nominated = nominated
            self.scheduler.renominate([self.pod(item, number=at) for at, item in enumerate(nominated)])

    def state_pods(self) -> dict[str, P]:
        """Return the pod of the state for each bound pod of the scheduler, by its uid."""
        found: dict[str, P] = {}
        left = {key: iter(shown) for key, shown in self._shown.items()}
        for pod in self._pods:
            shown = next(left.get((pod.cls, pod.node, _SEEN_END[pod.end]), iter(())), None)
            if shown is not None:
                found[shown.uid] = pod
        return found

    def pod(self, pod: P, *, number: int = -1) -> Pod:
        """Return a waiting pod as the scheduler sees it; `number` distinguishes nominated pods."""
        nominated = self._world.node_names[pod.nominated] if pod.nominated != PENDING else ""
        if number < 0 and nominated:
            number = self._nominated.index(pod) if pod in self._nominated else -1
        name = f"waiting-{number}"
        return Pod(name, name, self._world.classes[pod.cls], nominated_node=nominated)

    def allow(self, allowed: tuple[DisruptionBudget, ...]) -> None:
        """Set how many evictions each budget allows now, for preemption."""
        self.columns.cluster = self._cluster._replace(budgets=allowed)

    def reserve(self, pod: P, node: int, state: State) -> Made:
        """Return the claims after binding the pod; this scheduler does not change."""
        other = _Kept(self._world, state)
        before = dict(other.columns.storage.claims)
        volumes = dict(other.columns.storage.volumes)
        other.scheduler.bind(other.pod(pod), other._column[node])
        storage = other.columns.storage
        found = {(namespace, name): value for namespace, name, value in state.claims}
        for key, claim in storage.claims.items():
            if claim is not before.get(key):
                found[key.namespace, key.name] = f"node/{claim.selected_node}"
        for name, volume in storage.volumes.items():
            if volume is not volumes.get(name) and volume.claim is not None:
                found[volume.claim.namespace, volume.claim.name] = f"volume/{name}"
        return tuple(sorted((namespace, name, value) for (namespace, name), value in found.items()))


def _seen(pods: tuple[P, ...], without: tuple[P, ...] = ()) -> Seen:
    counts: dict[_Key, int] = Counter(map(_KIND, pods))  # perf: few loops, as there may be thousands of kinds
    for key in [key for key in counts if key[1] == PENDING]:
        del counts[key]
    if any(key[2] for key in counts):
        every, counts = counts, {}
        for (cls, node, end), number in every.items():
            seen = (cls, node, _SEEN_END[end])
            counts[seen] = counts.get(seen, 0) + number
    if not without:
        return frozenset(counts.items())
    for pod in [item for item in without if item.node != PENDING]:
        counts[pod.cls, pod.node, _SEEN_END[pod.end]] -= 1
    return frozenset(item for item in counts.items() if item[1])


def _nominated(pods: tuple[P, ...]) -> list[P]:
    """Return the waiting pods that have a nominated node."""
    if set(map(_NOMINATED, pods)) <= {PENDING}:  # perf: in most states
        return []
    return [pod for pod in pods if pod.nominated != PENDING and pod.node == PENDING]
