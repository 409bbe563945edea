"""Simulate commands of kubectl on a cluster, and everything that follows from them; loads numpy.

`replica_table` has the outcomes for each number of replicas of a workload.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, Optional, TYPE_CHECKING, Union

from kubectl_spread.cluster.ownership import workload_of
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.containers import grouped
from kubectl_spread.engine import reading, steps
from kubectl_spread.engine.budgets import SEVERAL
from kubectl_spread.engine.parts import Splitter
from kubectl_spread.engine.results.answer import released
from kubectl_spread.engine.results.summary import (
    PlayedStep,
    Preparation,
    Recovery,
    Release,
    Simulation,
    StepSummary,
    summarize,
    Verdict,
    WorkloadSummary,
)
from kubectl_spread.engine.run import Answer, Limits, Mode, play, StepAnswer, Watch
from kubectl_spread.errors import NotFoundError, RefusedError, RequestError, SourceError, SpreadError
from kubectl_spread.kubectl.applying import apply_objects, lost_data
from kubectl_spread.kubectl.interpret import combine, CommandEffect, effect
from kubectl_spread.kubectl.kinds import full_name
from kubectl_spread.kubectl.parsing import Command, parse, parse_text, StepError
from kubectl_spread.kubectl.situation import Situation
from kubectl_spread.kubectl.targets import kinds_of, only_pods
from kubectl_spread.objects.keys import NamespacedName, ObjectKey, Range
from kubectl_spread.objects.node import OUT_OF_SERVICE
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.releases.version import LATEST
from kubectl_spread.objects.workloads.workload import REPLICATED_KINDS
from kubectl_spread.operations import cluster_facts
from kubectl_spread.operations.cluster_facts import ClusterSource, LoadedCluster
from kubectl_spread.operations.selection import own_namespace
from kubectl_spread.report.scenarios import ReplicaCountRow, ReplicaTable
from kubectl_spread.report.wording import resource
from kubectl_spread.sources import kustomize as kustomizations
from kubectl_spread.sources.files import Input, inputs
from kubectl_spread.sources.live.resources import Question
from kubectl_spread.sources.manifest_objects import StepObjects
from kubectl_spread.text.wording import comma_list, count_noun

if TYPE_CHECKING:
    from kubectl_spread.advice.change import Suggestion


class SimulateRequest(NamedTuple):
    """The commands to simulate, with the cluster facts and the limits.

    Attributes:
        commands: the steps, in order; each begins once the cluster is stable.
        paths: manifests whose objects are created first; `-` is standard input.
        kustomize: directories that kustomize renders, likewise.
        source: the cluster facts; the live cluster if none are named.
        namespace: of objects that name none; None for the context's; empty for all, of which the context's is used.
        limits: the maximum number of states and the maximum time.
        allow_remote: kustomize may download.
        inside: the directory that must contain all files, if a scenario names them.
        recursive: read directories of `paths` with everything below them.
    """

    commands: tuple[Command, ...] = ()
    paths: tuple[str, ...] = ()
    kustomize: tuple[str, ...] = ()
    source: ClusterSource = ClusterSource()
    namespace: Optional[str] = None
    limits: Limits = Limits()
    allow_remote: bool = False
    inside: Optional[str] = None
    recursive: bool = False


class SimulateInputs(NamedTuple):
    """The cluster, the manifests whose objects are created first, and the namespace of objects that name none."""

    request: SimulateRequest
    known: LoadedCluster
    given: tuple[Union[Input, SourceError], ...]
    namespace: str

    @property
    def selected_namespace(self) -> str:
        """Return the namespace of a selection, the context's if none is named; empty for all."""
        return self.namespace if self.request.namespace is None else self.request.namespace


class SimulateResult(NamedTuple):
    """The answer, the cluster that it is about, and the inputs that could not be read."""

    simulation: Simulation
    known: LoadedCluster
    errors: tuple[SourceError, ...]

    @property
    def is_fine(self) -> bool:
        """Return whether every step completes in every outcome."""
        return self.simulation.is_fine


def read_inputs(request: SimulateRequest) -> SimulateInputs:
    """Read the cluster and the manifests.

    Raises:
        SourceError, ClusterError: they cannot be read.
    """
    source = request.source.or_live()
    session = cluster_facts.open_session(source)
    given = (
        *inputs(request.paths, recursive=request.recursive, inside=request.inside),
        *kustomizations.render_directories(request.kustomize, allow_remote=request.allow_remote),
    )
    verbs = {command.verb.name for command in request.commands}
    kinds = {kind for command in request.commands for kind in kinds_of(command)}
    # Any pod may take part, as one that leaves a node makes room for it.
    question = Question(
        "",
        is_overview=True,
        has_autoscalers=True,
        has_revisions="rollout undo" in verbs,
        has_manifests=bool(request.paths or request.kustomize or verbs & _OF_MANIFESTS or kinds & _OF_STORAGE),
        has_new_nodes=bool(request.commands),
        fallback="" if session is None else session.target.namespace,
    )
    known = cluster_facts.load(source, session, question)
    return SimulateInputs(request, known, given, own_namespace(request.namespace or None, session, known.cluster))


_OF_MANIFESTS = frozenset({"apply", "patch"})  # new pod templates
_OF_STORAGE = frozenset({"PersistentVolumeClaim", "PersistentVolume", "StorageClass"})


def simulate_commands(
    request: SimulateRequest,
    watch: Optional[Watch] = None,
    *,
    read: Optional[SimulateInputs] = None,
    has_frames: bool = False,
    has_advice: bool = False,
) -> SimulateResult:
    """Simulate commands on a cluster.

    Args:
        request: the commands, and the inputs.
        watch: shows the progress of the search, and can end it.
        read: the inputs, if they are read already.
        has_frames: also return the moments of one run, for drawing.
        has_advice: also look for a change that helps pods which stay Pending in the end.

    Raises:
        StepError: kubectl would print its usage.
        RefusedError: kubectl or the API server would refuse a step.
        SourceError: a manifest cannot be read, and a step would be refused without it.
        SpreadError: another input cannot be read.
    """
    read = read or read_inputs(request)
    watch = watch or Watch()
    scene = SimulationSetup(read)
    with unreadable_first(scene):
        effects = [effect(command, scene.situation) for command in request.commands]
    answer = scene.play((item.ops for item in effects), request.limits, watch)
    every = enumerate(zip(request.commands, effects, answer.steps, strict=True), 1)
    played = tuple(played_step(*step, number=number, has_frames=has_frames) for number, step in every)
    played = tuple(
        item._replace(
            summary=scene.on_own_nodes(item.summary) if step.parts else item.summary,
            notes=tuple(dict.fromkeys((*item.notes, *scene.notes(step)))),
        )
        for item, step in zip(played, answer.steps, strict=True)
    )
    if has_advice and not watch.is_stopped:
        past = tuple(item.ops for item in (scene.created, *effects) if item.ops)
        refused = [at for at, item in enumerate(played) if item.summary.refused][-1:]
        stuck = [at for at, item in enumerate(played[:-1]) if not item.is_fine][-1:]
        last, end = played[-1], answer.steps[-1]
        # A change after a command that waits would meet the next evictions.
        explained = [
            _with_saved(_explained(scene, item, step, past=() if refused or item is not last else past), read.known)
            for item, step in zip(played, answer.steps, strict=True)
        ]
        quotas, recovery = _with_quotas(scene, last, end, watch), _recovery(scene, last, end, watch)
        explained[-1] = explained[-1]._replace(quotas=quotas, recovery=recovery)
        for at in () if refused or explained[-1].advice else stuck:
            advice = _explained(scene, played[at], end, past=past).advice
            explained[at] = explained[at]._replace(advice=advice)
        for at in () if recovery else refused:
            explained[at] = explained[at]._replace(preparation=_preparation(scene, played, watch))
        played = tuple(explained)
    return SimulateResult(Simulation(played, answer.notes, watch.is_stopped), read.known, scene.errors)


def played_step(
    command: Command, done: CommandEffect, step: StepAnswer, *, number: int, has_frames: bool
) -> PlayedStep:
    """Return the summary of a command that was played; `number` counts from 1."""
    summary = summarize(step, done.concerns, labelled=done.labelled, number=number, has_frames=has_frames)
    notes = list(done.notes)
    for outcome in step.outcomes[:1]:
        nodes, down = outcome.nodes()
        if outcome.before is not None and len(outcome.before.nodes()[1]) < len(down) == len(nodes):
            notes.append("no node answers, so the node lifecycle controller evicts no pod until one does")
    stopping = {item.node for item in summary.refused if item.cause != SEVERAL}
    drained = [op.nodes for op in done.ops if isinstance(op, steps.Drain) and not op.is_timed]
    for at, node in enumerate(drained[0][:-1] if drained else (), 1):
        if node in stopping:
            later, are = drained[0][at:], "is" if at + 1 == len(drained[0]) else "are"
            notes.append(f"{comma_list(later)} {are} cordoned, and not drained, because kubectl waits for {node} first")
            notes += ["the numbers hold for a drain that goes on with the next nodes"] if step.parts else []
            break
    return PlayedStep(command.text, summary, done.refusal, tuple(notes))


class SimulationSetup:
    """A cluster with the objects of manifests, and the effects of commands on it."""

    def __init__(self, read: SimulateInputs, *, directory: str = "") -> None:
        """Create the objects of the manifests; `directory` is searched for files that steps name."""
        self.read = read
        release = next((item.release for item in read.known.profiles.values()), LATEST)
        asked = read.request
        self.reader = StepObjects(directory, inside=asked.inside, allow_remote=asked.allow_remote, minor=release.minor)
        self.situation = Situation(read.known.cluster, self.reader, read.namespace, release)
        objects = self.reader.of_inputs(read.given, read.namespace)
        self.created = combine(apply_objects(objects, self.situation), self.situation) if objects else CommandEffect()

    def notes(self, step: StepAnswer) -> Iterator[str]:
        """Yield notes on lost volumes, on workloads that the facts lack, and on nodes that Karpenter adds."""
        if lost := released(step.before, step.outcomes):
            yield lost_data(lost)
        cluster = self.read.known.cluster
        gone = {(pod.namespace, pod.name) for item in step.before for pod in item.pods if pod.maker}
        gone -= {(pod.namespace, pod.name) for item in step.outcomes[:1] for pod in item.pods}
        left = (pod for pod in cluster.pods if (pod.namespace, pod.name) in gone)
        for key in dict.fromkeys(workload_of(pod, cluster) for pod in left):
            if key.kind in reading.KINDS and key not in cluster.controllers:
                yield only_pods(key, cluster)
        outcome = next((item for item in step.outcomes if item.pending), None)
        if outcome is None or not self.situation.cluster.provisioning:
            return
        from kubectl_spread.provisioners import prospect  # 30 ms
        from kubectl_spread.report import added_nodes

        cluster = _with_own_names(outcome.cluster(), self.situation.cluster)
        alike = grouped(
            (item.answer.pod.name.partition(" ")[0], item)
            for item in prospect.added_nodes(cluster, cluster.pending(), self.read.known.profiles).values()
        )
        no_node = "no other node" if outcome.added else "no node"
        named = grouped((added_nodes.summary(prospect.outlook(found), no_node), name) for name, found in alike.items())
        yield from (f"{'pod' if len(who) == 1 else 'pods'} {comma_list(who)}: {text}" for text, who in named.items())

    def on_own_nodes(self, summary: StepSummary) -> StepSummary:
        """Return the summary of parts, whose nodes stand for others, with the nodes that hold pods in the facts."""
        nodes = {(pod.namespace, pod.name): pod.node_name for pod in self.read.known.cluster.pods}
        workloads = []
        for item in summary.workloads:
            held = (
                pod._replace(node=nodes.get((pod.namespace, pod.name), pod.node)) if pod.is_original else pod
                for pod in item.held
            )
            workloads.append(item._replace(held=tuple(held)))
        return summary._replace(workloads=tuple(workloads))

    def may_scale(self, key: ObjectKey) -> bool:
        """Return whether a workload has a number of replicas, and no autoscaler would take it back."""
        return key.kind in REPLICATED_KINDS and key not in self.situation.cluster.autoscalers

    @property
    def errors(self) -> tuple[SourceError, ...]:
        """Return the errors of reading so far."""
        return (*self.read.known.errors, *self.reader.errors)

    def play(self, written: Iterable[tuple[steps.Op, ...]], limits: Limits, watch: Watch) -> Answer:
        """Play steps; the objects of the manifests are created and settled first.

        So are the cluster facts if a pod without a controller waits in some outcomes: the others are those in which it
        found a node before the step.
        """
        known, every = self.read.known, [self.created.ops, *written]
        for start in (0,) if self.created.ops else (1, 0):
            played = partial(play, known.cluster, known.profiles, every[start:], limits=limits, watch=watch)
            answer = played(splitter=Splitter(known.cluster, known.profiles))
            ends = answer.steps[0].outcomes
            waiting = Counter(pod.name for end in ends for pod in end.pending if not pod.owner and pod.is_original)
            if watch.is_stopped or all(number == len(ends) for number in waiting.values()):
                break
        if self.situation.cluster.provisioning and not all(
            not step.may_wedge and all(item.completes for item in step.parts) for step in answer.steps
        ):
            answer = self._with_new_nodes(played)
        number = len(known.errors)  # The API server would refuse what is wrong in manifests.
        lost = {f"{count_noun(number, 'object')} that could not be read": None} if number else {}
        found = (step._replace(gaps={**step.gaps, **lost}) for step in answer.steps[1 - start :])
        return answer._replace(steps=tuple(found))

    def _with_new_nodes(self, played: Callable[..., Answer]) -> Answer:
        """Play steps with Karpenter as one more controller."""
        from kubectl_spread.provisioners import prospect, reading, solve
        from kubectl_spread.report import added_nodes

        gaps: dict[str, None] = {}
        provisioning = reading.of_cluster(self.situation.cluster)
        answer = played(
            provisioner=prospect.provisioner(
                provisioning,
                lambda found: gaps.update(dict.fromkeys(added_nodes.gaps(found.gaps))),
                most_steps=solve.MOST_STEPS,
            )
        )
        known_gaps = {f"whether Karpenter adds nodes: {text}": None for text in gaps}
        return answer._replace(steps=tuple(step._replace(gaps={**step.gaps, **known_gaps}) for step in answer.steps))


def _with_own_names(cluster: Cluster, after: Cluster) -> Cluster:
    """Return an outcome's cluster, in which equal pods have one name, with a name for each pod: `web-*`, `web-* 1`.

    The uids are new, too: a simulation that begins with this cluster makes its own.
    `after`: has the NodePools and the workloads as the steps leave them.
    """
    seen: set[str] = set()
    pods = []
    for at, pod in enumerate(cluster.pods):
        model = pod.name.removesuffix("-*")
        name = f"{pod.name} {at}" if pod.key in seen else pod.name
        pods.append(pod._replace(name=name, uid=f"{pod.uid}/after", new_of=model if model != pod.name else ""))
        seen.add(pod.key)
    return cluster._replace(
        pods=tuple(pods), provisioning=after.provisioning, controllers=after.controllers, owners=after.owners
    )


_MOST_CAUSES = 20  # workloads with Pending pods
_MOST_ADVISED = 3  # of them, for which a change is searched; one of them in a cluster with many pods
_MANY_PODS = 300
_ADVISED = 300  # Largest cluster, in nodes, for which a change is searched.


def _explained(
    scene: SimulationSetup, played: PlayedStep, step: StepAnswer, *, past: tuple[tuple[steps.Op, ...], ...] = ()
) -> PlayedStep:
    """Return a step with the reasons why pods stay Pending; the last one with the best change for some workloads.

    Each change is played as one more step after those of the `past`, in all outcomes. A change of a node that the steps
    changed would only take them back, and no command can name a pod without a name.
    """
    known, outcomes = scene.read.known, [item for item in step.outcomes if item.pending]
    if not outcomes or len(known.cluster.nodes) > _ADVISED:
        return played
    from kubectl_spread.advice.problem import of_pod  # 100 ms
    from kubectl_spread.advice.search import suggest
    from kubectl_spread.explain.explanation import explain
    from kubectl_spread.report.explain.verdict import cause

    causes: dict[tuple[Optional[ObjectKey], str], str] = {}
    advice: dict[Optional[ObjectKey], Suggestion] = {}
    tried: set[Optional[ObjectKey]] = set()
    unaffected = {item.key for item in played.summary.workloads if not item.is_concerned}
    waiting: dict[tuple[Optional[ObjectKey], str], tuple[Pod, Cluster]] = {}
    is_large = len(known.cluster.pods) > _MANY_PODS
    for outcome in outcomes:
        pending = {
            (item.owner, item.message): at
            for at, item in enumerate(outcome.pods, -len(outcome.pods))
            if item.is_pending and item.owner not in unaffected and (item.owner is not None or not item.is_original)
        }
        if pending.keys() - waiting:
            cluster = _with_own_names(outcome.cluster(), scene.situation.cluster)
            waiting |= {key: (cluster.pods[at], cluster) for key, at in pending.items() if key not in waiting}
    for (owner, message), (pod, cluster) in [*waiting.items()][:_MOST_CAUSES]:
        found = explain(pod, cluster, known.profiles)
        causes[owner, message] = cause(found)
        is_advised = past and owner not in tried and len(tried) < (1 if is_large else _MOST_ADVISED)
        problem = of_pod(found, cluster, known.profiles) if is_advised else None
        if problem is None:
            continue
        unusable = {node.name for node in cluster.nodes if node not in known.cluster.nodes}
        unusable |= {name for pod in cluster.pods if pod.new_of for name in (pod.key, pod.name)}
        problem = replace(problem, began=known.cluster, past=past, unusable=frozenset(unusable))
        tried.add(owner)
        if items := suggest(problem, most=1).items:
            advice[owner] = items[0]
    return played._replace(causes=causes, advice=advice)


def _with_saved(played: PlayedStep, known: LoadedCluster) -> PlayedStep:
    """Return a drain with the commands that save pods of the cluster facts which no controller creates again.

    There are none if pods of several namespaces have one name.
    """
    bare = [pod for pod in known.cluster.pods if pod.name in played.summary.lost and pod.owner is None]
    if not 0 < len({pod.name for pod in bare}) == len(bare) <= _MOST_SAVED or not played.text.startswith("drain "):
        return played
    from kubectl_spread.advice.target import save_command  # 20 ms

    saved = (save_command(pod.name, pod.namespace) for pod in bare)
    return played._replace(saving=(*saved, f"kubectl create {' '.join(f'-f {pod.name}.json' for pod in bare)}"))


_MOST_SAVED = 3
_MOST_PREPARED = 5  # workloads whose pods budgets keep; more have no common preparation


def _preparation(scene: SimulationSetup, played: Sequence[PlayedStep], watch: Watch) -> Optional[Preparation]:
    """Return the commands to run first, as budgets stop one of the steps; no commands if nothing helps.

    Three changes are tried in this order: a Pending pod of the workloads finds a node, each workload gets one more
    replica, a rollout moves the pods in place of evictions. At any time as many pods must be ready as are now. An
    autoscaler would take back the replicas of its workload.
    """
    read, cluster = scene.read, scene.read.known.cluster
    refused = [item for step in played for item in step.summary.refused]
    keys = dict.fromkeys(item.owner for item in refused if item.owner)
    if len(cluster.nodes) > _ADVISED or not 0 < len(keys) <= _MOST_PREPARED:
        return None
    from kubectl_spread.advice.problem import of_pod  # 100 ms
    from kubectl_spread.advice.search import suggest
    from kubectl_spread.explain.explanation import explain

    tried: list[Preparation] = []
    waiting = {key: pod for pod in cluster.pending() if (key := workload_of(pod, cluster)) in keys}
    for pod in waiting.values():
        problem = of_pod(explain(pod, cluster, read.known.profiles), cluster, read.known.profiles)
        for found in suggest(problem).items if problem else ():
            if found.commands and not (found.effect.restarts or found.effect.lost):
                tried.append(Preparation(found.commands, found.gives_up))
    names = [f"{key.kind.lower()} {key.name} -n {key.namespace}" for key in keys]
    sizes = {one.key: one.desired.most for step in played for one in step.summary.workloads}
    if all(map(scene.may_scale, keys)):
        scales = (f"kubectl scale {name} --replicas={sizes[key] + 1}" for name, key in zip(names, keys, strict=True))
        tried.append(Preparation(tuple(scales)))
    if all(key.kind == "Deployment" for key in keys):
        cordons = (f"kubectl cordon {node}" for node in dict.fromkeys(item.node for item in refused))
        tried.append(Preparation((*cordons, *(f"kubectl rollout restart {name}" for name in names))))
    ready = {one.key: one.ready_before.least for step in reversed(played) for one in step.summary.workloads}
    for item in tried:
        with contextlib.suppress(SpreadError):
            commands = (*map(parse_text, item.commands), *read.request.commands)
            result = simulate_commands(read.request._replace(commands=commands), watch, read=read)
            steps_ = result.simulation.steps
            if result.is_fine and not any(step.summary.refused for step in steps_):
                least: dict[ObjectKey, WorkloadSummary] = {}
                for one in (one for step in steps_ for one in step.summary.workloads if one.key in keys):
                    if one.key not in least or one.fewest_ready < least[one.key].fewest_ready:
                        least[one.key] = one
                if all(one.fewest_ready >= ready[key] for key, one in least.items()):
                    return item._replace(workloads=tuple(least.values()))
    return Preparation(()) if tried else None


def _with_quotas(scene: SimulationSetup, last: PlayedStep, step: StepAnswer, watch: Watch) -> tuple[Preparation, ...]:
    """Return commands that help if quotas refuse pods in the last step: larger quotas, or fewer replicas.

    A rollout may need room for all its pods.
    """
    refused = {item.key: item for item in last.summary.workloads if item.refusal and item.key.kind != "DaemonSet"}
    read = scene.read
    if not refused or not step.outcomes or len(read.known.cluster.nodes) > _ADVISED:
        return ()
    from kubectl_spread.advice.target import command, quota_commands  # 20 ms

    tried: list[tuple[str, ...]] = []
    for is_whole in (False, True):
        lines: list[str] = []
        for namespace in dict.fromkeys(key.namespace for key in refused):
            missing = {
                key: item.desired.most - item.updated.least if is_whole else max(1, item.not_created.most)
                for key, item in refused.items()
                if key.namespace == namespace
            }
            lines += quota_commands(namespace, step.outcomes[0].quota_limits(namespace, missing))
        tried += [tuple(lines)] if lines else []
    if not tried:
        return ()  # The quotas want fields that the pods lack, or a LimitRange refuses them.
    sizes = {key: item.desired.least - item.not_created.most for key, item in refused.items() if item.not_created.most}
    if len(sizes) == len(refused) and all(size > 0 and scene.may_scale(key) for key, size in sizes.items()):
        scales = [
            command("scale", resource(key), namespace=key.namespace, rest=(f"--replicas={size}",))
            for key, size in sizes.items()
        ]
        tried.append(tuple(scales))
    helpful: dict[str, Preparation] = {}  # by verb
    for commands in tried:
        verb = commands[0].split()[1]
        if verb in helpful:
            continue
        every, end = (*read.request.commands, *map(parse_text, commands)), tuple[WorkloadSummary, ...]()
        with contextlib.suppress(SpreadError):
            steps_ = simulate_commands(read.request._replace(commands=every), watch, read=read).simulation.steps
            end = tuple(item for item in steps_[-1].summary.workloads if item.key in refused)
        if end and all(item.verdict is Verdict.COMPLETES for item in end):
            helpful[verb] = Preparation(commands, workloads=end)
    return tuple(helpful.values())


_RECOVERED = Limits(max_states=600, samples=3)  # of a step after which pods that stay Terminating end


def _recovery(scene: SimulationSetup, last: PlayedStep, step: StepAnswer, watch: Watch) -> Optional[Recovery]:
    """Return commands that end pods of StatefulSets which stay Terminating after the last step; None without such pods.

    No Node object is deleted for pods that find no node afterwards. A drain that waits for the pods is left out.
    """
    read, request = scene.read, scene.read.request
    ends = [
        {
            NamespacedName(pod.namespace, pod.name): pod.node if pod.node in outcome.nodes()[1] else ""
            for pod in outcome.pods
            if pod.is_terminating and pod.owner and pod.owner.kind == "StatefulSet"
        }
        for outcome in step.outcomes
    ]
    held = {name: node for name, node in (ends[0] if ends else {}).items() if all(name in end for end in ends)}
    held = {name: node for name, node in held.items() if node} or held
    if not held or len(read.known.cluster.nodes) > _ADVISED:
        return None
    names = Counter(name.name for name in held)
    titles = {name: name.name if names[name.name] == 1 else "/".join(name) for name in held}
    is_example = False
    before = request.commands[:-1] if last.summary.refused else request.commands
    limits = _RECOVERED._replace(mode=Mode.FIRST) if step.parts else _RECOVERED
    stuck: dict[str, str] = {}
    while True:
        nodes, lines = sorted(filter(None, set(held.values()))), dict[Release, tuple[str, ...]]()
        if nodes:
            tainted = f"{' '.join(nodes)} {OUT_OF_SERVICE}=nodeshutdown:NoExecute"
            lines[Release.DELETED_NODE] = (f"kubectl delete node {' '.join(nodes)}",)
            lines[Release.OUT_OF_SERVICE] = (f"kubectl taint node {tainted}",)
        lines[Release.FORCED] = tuple(
            f"kubectl delete pod {' '.join(names)} -n {namespace} --force --grace-period=0"
            for namespace, names in grouped(held).items()
        )
        places: dict[NamespacedName, set[str]] = {name: set() for name in held}
        ways: list[Release] = []
        for way, commands in lines.items():
            again, more, effects = SimulationSetup(read), tuple(map(parse_text, commands)), list[CommandEffect]()
            with contextlib.suppress(SpreadError):
                effects = [effect(command, again.situation) for command in (*before, *more)]
            if not effects:
                continue  # It would be refused.
            end = again.play((item.ops for item in effects), limits, watch).steps[-1]
            is_example = is_example or not end.is_exact
            mine = [pod for outcome in end.outcomes for pod in outcome.pods if (pod.namespace, pod.name) in held]
            if not mine or any(pod.is_terminating for pod in mine):
                continue
            ways.append(way)
            for pod in mine:
                places[NamespacedName(pod.namespace, pod.name)].update(filter(None, [pod.node]))
            if not all(places.values()):
                played = played_step(more[-1], effects[-1], end, number=1, has_frames=False)
                causes = _explained(again, played, end).causes
                stuck |= {
                    titles[NamespacedName(pod.namespace, pod.name)]: causes.get((pod.owner, pod.message), pod.message)
                    for pod in mine
                    if not pod.node
                }
                break
        helped = {name: node for name, node in held.items() if places[name]}
        if not helped and not stuck:
            return None
        if helped == held or not helped:
            pods = {titles[name]: tuple(sorted(places[name])) for name in helped}
            kept = {way: lines[way] for way in ways if pods}
            return Recovery(tuple(nodes), pods, kept, stuck, bool(last.summary.refused), is_example)
        held = helped


@contextlib.contextmanager
def unreadable_first(scene: SimulationSetup) -> Iterator[None]:
    """Report the manifests that cannot be read instead of an object that is therefore missing.

    Raises:
        SourceError: there are such manifests, and an object was not found.
        RefusedError: the API server would refuse these manifests.
    """
    try:
        yield
    except (NotFoundError, RefusedError, RequestError) as error:
        if not scene.reader.errors:
            raise
        raise scene.reader.lost() from error


_MOST_ROWS = 1000
_MOST_FULL = 5  # rows that may visit as many states as one answer; more rows share as many as these
_LEAST_STATES = 1_000  # of a row


def replica_table(read: SimulateInputs, numbers: Optional[Range], watch: Watch) -> ReplicaTable:
    """Return a row for each number of replicas.

    Args:
        read: the steps, of which a `scale` with a range only names the workload, and what they need; many rows share
            the limit of states.
        numbers: of replicas; None for the range of the workload's autoscaler.
        watch: shows the progress of the search, and can end it.

    Raises:
        StepError: the commands name no workload that can be scaled, or several.
        RefusedError: kubectl would refuse a command, or the workload has no autoscaler.
    """
    request, scene = read.request, SimulationSetup(read)
    scalers = scene.situation.cluster.autoscalers
    with unreadable_first(scene):
        key = _workload(request.commands, scene)
        name = f"{full_name(key.kind)}/{key.name}"
        if numbers is None and key not in scalers:
            what = f'HorizontalPodAutoscaler of {full_name(key.kind)} "{key.name}"'
            raise RefusedError(f"error: the cluster facts hold no {what}; name the range with --replicas MIN..MAX")
    least, most = numbers or Range(scalers[key].min_replicas, scalers[key].max_replicas)
    most = max(least, most)
    if most - least >= _MOST_ROWS:
        raise StepError(
            f"{least}..{most} replicas are more than {_MOST_ROWS:,} rows: name a shorter range with --replicas"
        )
    rest = tuple(command for command in request.commands if ".." not in command.value("replicas"))
    states = max(
        _LEAST_STATES, min(request.limits.max_states, _MOST_FULL * request.limits.max_states // (most - least + 1))
    )
    request = request._replace(limits=request.limits._replace(has_messages=False, max_states=states))
    rows: list[ReplicaCountRow] = []
    errors: tuple[SourceError, ...] = ()
    for replicas in range(least, most + 1):
        first = parse(["scale", name, f"--replicas={replicas}", "-n", key.namespace])
        played = simulate_commands(request._replace(commands=(first, *rest)), watch, read=read)
        rows.append(ReplicaCountRow(replicas, played.simulation.steps))
        errors = played.errors
        if watch.is_stopped:
            break
    return ReplicaTable(key, tuple(command.text for command in rest), tuple(rows), errors, watch.is_stopped)


def _workload(commands: Iterable[Command], scene: SimulationSetup) -> ObjectKey:
    """Return the only workload that commands name and that can be scaled."""
    named: dict[ObjectKey, None] = {}
    for command in commands:
        is_range = ".." in command.value("replicas")
        single = command._replace(flags={**command.flags, "replicas": ("1",)}) if is_range else command
        concerns = effect(single, scene.situation).concerns
        named |= dict.fromkeys(key for key in sorted(concerns) if key.kind in REPLICATED_KINDS)
    named = named or dict.fromkeys(key for key in sorted(scene.created.concerns) if key.kind in REPLICATED_KINDS)
    if len(named) != 1:
        names = ", ".join(f"{key.kind.lower()}/{key.name}" for key in named)
        raise StepError(
            "a table needs steps about one workload that can be scaled"
            + (f", and these are about {len(named)}: {names}" if named else "")
        )
    return next(iter(named))
