"""The user's steps, applied to a state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Optional, Union

from kubectl_spread.cluster.snapshot import key_of
from kubectl_spread.containers import grouped
from kubectl_spread.engine import claims, nodes, reading, steps
from kubectl_spread.engine.controllers import deployment
from kubectl_spread.engine.controllers.replicaset import choices
from kubectl_spread.engine.draft import Draft
from kubectl_spread.engine.state import (
    EventKind,
    Move,
    NO_ORDINAL,
    on_node,
    P,
    PENDING,
    present,
    Slot,
    slot,
    Stage,
    State,
)
from kubectl_spread.engine.world import World, WorldFacts
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.reading.plain import fields

_NODE = 4  # place of the node in a slot


def do(world: World, state: State, op: steps.Op) -> list[Draft]:
    """Return the states right after a step, before any controller reacts; several if a choice is random."""
    if not isinstance(op, (steps.DeleteSome, steps.PatchSome)):
        draft = Draft(world, state)
        _DOERS[type(op)](draft, op)
        return [draft]
    match, owner = op.match, world.owner_at.get(op.match.key)
    node = world.node_at.get(match.node, PENDING) if match.node else None
    matching = [
        pod
        for pod in state.pods
        if pod.owner == owner
        and (not pod.end or (isinstance(op, steps.DeleteSome) and op.is_forced))
        and (node is None or pod.node == node)
        and (not match.ordinals or pod.ordinal in match.ordinals)
        and (not match.is_pending or pod.node == PENDING)
    ]
    drafts: list[Draft] = []
    for pods in choices(matching, min(op.limit or len(matching), len(matching))):
        draft = Draft(world, state)
        if isinstance(op, steps.DeleteSome):
            draft.todo = (("delete", tuple(map(slot, pods)), op.is_forced), *draft.todo)
        else:
            for pod in pods:
                changed = _labelled(world, pod, op.labels)._replace(cost=op.cost or pod.cost)
                is_unready = op.is_unready and pod.node != PENDING
                draft.replace(pod, changed._replace(stage=Stage.UNREADY, age=0) if is_unready else changed)
        drafts.append(draft)
    return drafts


def _labelled(world: World, pod: P, labels: Iterable[tuple[str, Optional[str]]]) -> P:
    """Return a pod with other labels; a controller that no longer selects it releases it."""
    cls = world.classes[pod.cls]
    changed = {**dict(cls.labels), **dict(labels)}
    kept = {key: value for key, value in changed.items() if value is not None}
    if kept == dict(cls.labels):
        return pod
    key = cls.owner_key
    selector = None if key is None else world.cluster.owner_selectors.get(key)
    is_lost = selector is not None and not selector.matches(kept)
    cls = cls._replace(labels=tuple(sorted(kept.items())))
    return pod._replace(cls=world.class_index(cls), owner=-1 if is_lost else pod.owner)


def _apply(draft: Draft, op: steps.Apply) -> None:
    workload = op.controller.workload
    world = draft.world
    if workload.kind not in reading.KINDS:
        world.leave_out(f"{workload.key}: what its controller does is not simulated", key_of(workload))
        return
    owner = world.owner_at[key_of(workload)]
    spec = reading.spec_of(world, op.controller)
    draft.sets += [None] * (owner + 1 - len(draft.sets))
    own = draft.sets[owner]
    if own is not None and op.keeps_replicas and hasattr(world.specs[spec], "replicas"):
        spec = world.spec_at[world.specs[spec]._replace(replicas=world.specs[own.spec].replicas)]
    draft.sets[owner] = (
        reading.own_of(world, workload.kind, spec) if own is None else reading.change_spec(own, world, spec)
    )


def _with_spec(draft: Draft, key: ObjectKey, change: Callable[[Any], Any]) -> None:
    own = draft.world.own(draft.sets, key)
    if own is None:
        draft.world.leave_out(f"{key.kind} {key.namespace}/{key.name} is not in the facts", key)
        return
    spec = draft.world.spec_at[change(draft.world.specs[own.spec])]
    draft.sets[draft.world.owner_at[key]] = reading.change_spec(own, draft.world, spec)


def _restarted(world: World, before: int, op: steps.Restart) -> int:
    """Return the revision after a restart; the same one in every state."""
    found = world.restarted.get((before, id(op)))
    if found is None:
        rev = world.revisions[before]
        metadata = fields(rev.workload.template, "metadata")
        times = sum(item.owner == rev.owner for item in world.revisions)
        annotations = {**fields(metadata, "annotations"), RESTARTED_AT: f"revision {times + 1}"}
        template = {**rev.workload.template, "metadata": {**metadata, "annotations": annotations}}
        made = world.revision(rev.workload._replace(template=template, known_hash=""))
        found = world.restarted[before, id(op)] = made.at
    return found


RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"


def _undo(draft: Draft, op: steps.Undo) -> None:
    own = draft.world.own(draft.sets, op.key)
    if not isinstance(own, deployment.DeploymentState):
        return
    before = deployment.previous(own, draft.world.specs[own.spec])
    if before is not None:
        _with_spec(draft, op.key, lambda spec: spec._replace(rev=before))


def _delete(draft: Draft, op: steps.Delete) -> None:
    owner = draft.world.owner_at.get(op.key)
    if owner is not None and owner < len(draft.sets):
        draft.sets[owner] = None
        draft.delete(draft.of(owner))


def _delete_set(draft: Draft, op: steps.DeleteSet) -> None:
    """Delete a ReplicaSet of a Deployment; the garbage collector deletes its pods, one after the other."""
    own = draft.world.own(draft.sets, op.key)
    if not isinstance(own, deployment.DeploymentState):
        return
    owner = draft.world.owner_at[op.key]
    text = op.name.removeprefix(f"{op.key.name}-")
    revs = {item.rev for item in own.sets if draft.world.is_named(item.rev, text)}
    left = tuple(item for item in own.sets if item.rev not in revs)
    if not left and draft.world.specs[own.spec].is_orphaned:
        _delete(draft, steps.Delete(op.key))
        return
    draft.sets[owner] = own._replace(sets=left)
    orphans = [pod for pod in draft.of(owner) if pod.rev in revs and not pod.end]
    names = draft.world.names
    for pod in orphans:
        released = pod._replace(owner=-1)
        known = names.get(slot(pod)) or names.get(slot(on_node(pod, PENDING))) or [f"{op.key.name}-*"]
        names.setdefault(slot(released), known)
        draft.replace(pod, released)
    draft.todo = (("delete", tuple(slot(pod._replace(owner=-1)) for pod in orphans), False), *draft.todo)


def _orphan(draft: Draft, op: steps.Orphan) -> None:
    """Remove a controller; pods keep their owner, which adopts them if it is created again."""
    own = draft.world.own(draft.sets, op.key)
    if isinstance(own, deployment.DeploymentState):
        # Its ReplicaSets keep their sizes, as those of a paused Deployment do.
        _with_spec(draft, op.key, lambda spec: spec._replace(is_paused=True, is_orphaned=True))
    elif own is not None:
        draft.sets[draft.world.owner_at[op.key]] = None


def _remove_pods(draft: Draft, op: Union[steps.DeletePods, steps.DeleteSelected, steps.Evict]) -> None:
    if isinstance(op, steps.DeleteSelected):
        found = tuple(slot(pod) for pod in draft.pods if op.selects(draft.world.classes[pod.cls]))
    else:
        found = _slots(draft, op.uids)
    item = ("evict", found) if isinstance(op, steps.Evict) else ("delete", found, op.is_forced)
    draft.todo = (item, *draft.todo)


def _change_pods(draft: Draft, op: Any) -> None:
    for pod in present(draft.pods, _slots(draft, op.uids)):
        is_labelled = isinstance(op, steps.LabelPods)
        draft.replace(pod, _labelled(draft.world, pod, op.labels) if is_labelled else pod._replace(cost=op.cost))


def _slots(draft: Draft, uids: Iterable[str]) -> tuple[Slot, ...]:
    """Return the slots of initial pods. A pod that waited at the start may have got a node since."""
    known = draft.world.slot_of
    now = Counter(slot(pod) for pod in draft.pods if not pod.is_new)
    bound = (now - Counter(known.values())).elements()
    later = grouped(((*named[:_NODE], PENDING, *named[_NODE + 1 :]), named) for named in bound)
    found = []
    for named in (known[uid] for uid in uids if uid in known):
        found.append(named if now[named] > 0 or not later.get(named) else later[named].pop())
        now[named] -= 1
    return tuple(found)


def _nodes_of(draft: Draft, names: Iterable[str]) -> list[int]:
    at = draft.world.node_at
    return [at[name] for name in names if name in at and draft.world.node(draft.facts, at[name]) is not None]


def _change_facts_by(draft: Draft, op: steps.Op, change: Callable[[WorldFacts], WorldFacts]) -> None:
    draft.facts = draft.world.changed_facts(draft.facts, repr(op), change)


_NODE_CHANGES: dict[type, Callable[[Any, Any], Node]] = {
    steps.Cordon: lambda node, op: nodes.set_cordon(node, is_cordoned=op.is_cordoned),
    steps.Drain: lambda node, _: nodes.set_cordon(node, is_cordoned=True),
    steps.TaintNodes: lambda node, op: nodes.add_taint(node, op.taint) if nodes.keeps(node, op.taint) else node,
    steps.Untaint: lambda node, op: nodes.remove_taints(node, op.key, op.effect),
}


def _change_each(draft: Draft, op: Any) -> None:
    """Change the nodes that exist; a drain then evicts their pods."""
    found, change = _nodes_of(draft, op.nodes), _NODE_CHANGES[type(op)]
    _change_facts_by(
        draft, op, lambda facts: nodes.with_nodes(facts, [(at, change(facts.nodes[at], op)) for at in found])
    )
    if isinstance(op, steps.Drain):
        draft.todo = (*(("drain", at, op) for at in found), *draft.todo)


def _change_nodes(draft: Draft, op: steps.ChangeNodes) -> None:
    changed = [(draft.world.node_at[node.name], node) for node in op.nodes]
    _change_facts_by(draft, op, lambda facts: nodes.with_nodes(facts, changed))


def _delete_nodes(draft: Draft, op: steps.DeleteNodes) -> None:
    gone = _nodes_of(draft, op.nodes)
    _change_facts_by(draft, op, lambda facts: nodes.with_nodes(facts, [(at, None) for at in gone]))
    for pod in list(draft.pods):
        if pod.nominated in gone:
            draft.replace(pod, pod._replace(nominated=PENDING))


def _set_down(draft: Draft, op: Union[steps.NodesDown, steps.NodesUp]) -> None:
    found, down = frozenset(_nodes_of(draft, op.nodes)), draft.world.facts[draft.facts].down
    is_down = isinstance(op, steps.NodesDown)
    _change_facts_by(draft, op, lambda facts: nodes.with_down(facts, down | found if is_down else down - found))
    for pod in list(draft.pods):
        if pod.node in (found if is_down else found & down):
            # A pod of a node that answers is as ready as its kubelet says.
            stage = draft.stage_of_bound(pod.rev, pod.node)
            draft.replace(pod, pod._replace(stage=stage, age=0 if is_down else pod.age))


def _change_facts(draft: Draft, op: steps.ChangeFacts) -> None:
    parts = {name: getattr(op.cluster, name) for name in steps.FACTS}
    draft.facts = draft.world.changed_facts(
        draft.facts, f"facts {id(op.cluster)}", lambda facts: facts._replace(cluster=facts.cluster._replace(**parts))
    )


def _delete_claims(draft: Draft, op: steps.DeleteClaims) -> None:
    for key in op.keys:
        claims.delete_unused(draft, key)


def _create_pod(draft: Draft, op: steps.CreatePod) -> None:
    pod = draft.at_own_node(P(-1, -1, NO_ORDINAL, draft.world.class_index(op.cls), PENDING, Stage.WAITING))
    draft.add(pod)
    draft.moves.append(Move(EventKind.CREATED, pod, text=op.name))


_DOERS: dict[type, Callable[[Draft, Any], None]] = {
    steps.Apply: _apply,
    steps.Scale: lambda draft, op: _with_spec(draft, op.key, lambda spec: spec._replace(replicas=op.replicas)),
    steps.Restart: lambda draft, op: _with_spec(
        draft, op.key, lambda spec: spec._replace(rev=_restarted(draft.world, spec.rev, op))
    ),
    steps.Undo: _undo,
    steps.Delete: _delete,
    steps.DeleteSet: _delete_set,
    steps.DeletePods: _remove_pods,
    steps.DeleteSelected: _remove_pods,
    steps.LabelPods: _change_pods,
    steps.Evict: _remove_pods,
    steps.Cordon: _change_each,
    steps.TaintNodes: _change_each,
    steps.Untaint: _change_each,
    steps.Drain: _change_each,
    steps.ChangeNodes: _change_nodes,
    steps.DeleteNodes: _delete_nodes,
    steps.NodesDown: _set_down,
    steps.NodesUp: _set_down,
    steps.ChangeFacts: _change_facts,
    steps.CreatePod: _create_pod,
    steps.DeleteClaims: _delete_claims,
    steps.SetCost: _change_pods,
    steps.Orphan: _orphan,
}
