"""Decide whether spread constraints keep a policy, whatever happens; loads numpy."""

from __future__ import annotations

from typing import NamedTuple, Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine.run import Watch
from kubectl_spread.engine.search.explore import Limit
from kubectl_spread.engine.steps import CreatePod
from kubectl_spread.errors import ConfigError, NotFoundError, RequestError, SourceError
from kubectl_spread.guarantee.members import groups_of, member_of
from kubectl_spread.guarantee.policy import Policy, REGIMES
from kubectl_spread.guarantee.prove import prove
from kubectl_spread.guarantee.recommend import recommend_for_group
from kubectl_spread.guarantee.recommendation import Recommendation, RecommendationRequest
from kubectl_spread.guarantee.texts import short_key, SHORT_KEYS
from kubectl_spread.guarantee.verdict import GroupResult, ProofStatus, worst
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.workloads.workload import REPLICATED_KINDS
from kubectl_spread.operations.cluster_facts import LoadedCluster
from kubectl_spread.operations.selection import missing_targets, Selection, unmatched_group
from kubectl_spread.operations.simulate import (
    read_inputs,
    SimulateRequest,
    SimulationSetup,
    unreadable_first,
)
from kubectl_spread.text.wording import did_you_mean

_FEW = 10  # groups; of more, each gets a part of the states, but at least one tenth of the limit


class GuaranteeRequest(NamedTuple):
    """A policy, the workloads, and the limits of the search.

    Attributes:
        policy: the rules, by group.
        inputs: the cluster facts, and the manifests whose workloads are judged.
        selection: the workloads, if there are no manifests; all of a namespace by default.
        max_states: most states that are visited for a regime of a group, if there are few groups.
        wants_recommendation: look for constraints that keep the policy.
    """

    policy: Policy
    inputs: SimulateRequest = SimulateRequest()
    selection: Selection = Selection()
    max_states: int = 100_000
    wants_recommendation: bool = False


class GuaranteeResult(NamedTuple):
    """The verdicts on all groups.

    Attributes:
        policy: as it was requested.
        groups: with their verdicts, and the recommended constraints if they were wanted.
        known: the cluster.
        errors: inputs that could not be read.
        skipped: workloads of kinds whose controllers are not followed, or that only an autoscaler names, and those that
            an interrupted search left out.
        is_interrupted: the search was ended early.
    """

    policy: Policy
    groups: tuple[tuple[GroupResult, Optional[Recommendation]], ...]
    known: LoadedCluster
    errors: tuple[SourceError, ...] = ()
    skipped: tuple[ObjectKey, ...] = ()
    is_interrupted: bool = False

    @property
    def verdict(self) -> ProofStatus:
        """Return the worst verdict of all groups."""
        return worst([result.verdict for result, _ in self.groups])


def guarantee_policy(request: GuaranteeRequest, watch: Optional[Watch] = None) -> GuaranteeResult:
    """Read the inputs, and decide the policy for every group; `watch` shows the progress, and can end the search.

    Raises: RequestError: a group has no workload, or a key no node. SpreadError: an input cannot be read.
    """
    watch = watch or Watch()
    read, has_files = read_inputs(request.inputs), bool(request.inputs.paths or request.inputs.kustomize)
    scene = SimulationSetup(read)
    cluster = scene.situation.cluster
    created = (op for op in scene.created.ops if isinstance(op, CreatePod))  # they have no node yet
    pods = [Pod(op.name, f"manifest-{op.cls.namespace}-{op.name}", op.cls) for op in created]
    cluster = cluster._replace(pods=(*cluster.pods, *pods)) if pods else cluster
    with unreadable_first(scene):
        chosen = scene.created.concerns
        if not has_files:
            selection = request.selection._replace(namespace=read.selected_namespace).named(cluster)
            chosen = frozenset(selection.controllers(cluster))
            for error in missing_targets(chosen, selection, cluster, is_live=True):
                raise error
            if not chosen:
                raise NotFoundError(f"no workload found {selection.place}; to check manifests, name them with -f")
        keys = sorted(chosen, key=lambda key: (key.namespace, key.kind, key.name))
        judged = {key for key in keys if key.kind in REPLICATED_KINDS and key in cluster.controllers}
        members = [member_of(key, cluster.controllers[key], cluster) for key in keys if key in judged]
        if not members:
            raise RequestError("no Deployment, StatefulSet, ReplicaSet or ReplicationController is given")
    _check_keys(request.policy, cluster)
    policy, profiles = request.policy, read.known.profiles
    regimes = [item for item in REGIMES if item in policy.regimes]
    before = last = 0

    def saw(states: int) -> bool:
        """Show the states of all searches together: each counts its own."""
        nonlocal before, last
        before += last if states < last else 0
        last = states
        return watch.saw(before + states)

    groups: list[tuple[GroupResult, Optional[Recommendation]]] = []
    skipped = [key for key in keys if key not in judged]
    parts = [(spec, groups_of(spec, members)) for spec in policy.groups]
    for spec, every in parts:
        if not every:
            raise unmatched_group(spec, policy)
    number = sum(len(every) for _, every in parts)
    part = min(request.max_states, max(request.max_states // _FEW, request.max_states * _FEW // number))
    limit = Limit(part, saw)
    for spec, found in ((spec, found) for spec, every in parts for found in every):
        if watch.is_stopped:
            skipped += [member.key for member in found]
            continue
        first, more = found[0].key, f" and {len(found) - 1} more" if len(found) > 1 else ""
        own = f"{first.namespace}/{first.name}{more}"
        watch.subject = f"{own} ({len(groups) + 1} of {number})" if number > 1 else own
        result = prove(found, cluster, profiles, spec.rules, regimes=regimes, limit=limit, name=spec.name or own)
        recommendation = None
        if request.wants_recommendation and result.verdict is not ProofStatus.NOT_APPLICABLE:
            watch.subject += ", recommendation"
            wanted = RecommendationRequest(found, cluster, profiles, spec.rules, limit, regimes, result)
            recommendation = recommend_for_group(wanted)
            recommendation = None if watch.is_stopped else recommendation  # Not every candidate was tried.
        groups.append((result, recommendation))
    return GuaranteeResult(policy, tuple(groups), read.known, scene.errors, tuple(skipped), watch.is_stopped)


def _check_keys(policy: Policy, cluster: Cluster) -> None:
    """Refuse topology keys that no node has.

    Raises:
        RequestError, ConfigError: for a policy of flags, or of a file.
    """
    known = {key for node in cluster.nodes for key in node.labels}
    wrong = [
        rule for spec in policy.groups for rule in spec.rules if rule.topology_key and rule.topology_key not in known
    ]
    if not wrong or not cluster.nodes:
        return
    messages = []
    for rule in wrong:
        near = did_you_mean(rule.topology_key, [*known, *SHORT_KEYS])
        messages.append(f"no node has the label {short_key(rule.topology_key)}" + (f"; {near}" if near else ""))
    if not policy.file:
        raise RequestError(messages[0])
    raise ConfigError(
        tuple(
            SourceError(policy.file, text, line=rule.line, column=rule.column)
            for rule, text in zip(wrong, messages, strict=True)
        )
    )
