"""Scheduler configurations: what loads acts, what the scheduler refuses is refused in its words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.errors import SourceError
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.releases import behaviours
from kubectl_spread.objects.releases.version import nearest_release, release_of, VersionError
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.sources import scheduler_config

EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "scheduler-configs"
ZONE, OLD_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
SPREAD = HEAD + "profiles:\n- pluginConfig:\n  - name: PodTopologySpread\n    args:\n"


def pod(name: str, node: str = "") -> dict[str, object]:
    spec = {"nodeName": node} if node else {}
    return {
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c"}], **spec},
    }


def spread_scores(config: str) -> dict[str, int]:
    """PodTopologySpread's scores for a pod of a Service, two nodes to a zone, pods on a1 and a2."""
    nodes = [
        {"kind": "Node", "metadata": {"name": f"{zone}{at}", "labels": {ZONE: zone, OLD_ZONE: zone}}}
        for zone in "ab"
        for at in (1, 2)
    ]
    for node in nodes:
        node["status"] = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}
    service = {"kind": "Service", "metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}}}
    cluster = cluster_of([*nodes, service, pod("one", "a1"), pod("two", "a2")])
    scheduler = Scheduler(Columns(cluster), scheduler_config.load(config).profiles)
    incoming = read.pod(pod("new"))
    scores = scheduler.score(incoming, scheduler.filter(incoming)).by_plugin.get("PodTopologySpread")
    if scores is None:
        return {}
    return {node.name: int(score) for node, score in zip(cluster.nodes, np.asarray(scores), strict=True)}


def test_default_constraints_of_a_list_score_by_zone() -> None:
    """The nodes of the empty zone score 100, twice weighted; those of the other 0."""
    scores = spread_scores(str(EXAMPLES / "zone-by-default.yaml"))

    assert {"a1": 0, "a2": 0, "b1": 200, "b2": 200} == scores


def test_an_empty_list_of_defaults_switches_the_plugin_off() -> None:
    assert {} == spread_scores(str(EXAMPLES / "no-defaults.yaml"))


def test_a_configuration_as_documents_of_1_18_write_it_loads_and_acts() -> None:
    """A mapping of one profile is read as a list, and constraints without a defaultingType are a List."""
    path = str(EXAMPLES / "as-written-for-1.18.yaml")

    assert {"a1": 0, "a2": 0, "b1": 200, "b2": 200} == spread_scores(path)
    assert ("`profiles` is a mapping, and is read as a list of that one profile",) == scheduler_config.load(path).notes


def test_an_old_plugin_is_read_as_the_strategy_that_replaced_it(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    text = HEAD.replace("/v1\n", "/v1beta1\n")
    file.write_text(
        text + "profiles:\n- plugins: {score: {enabled: [{name: NodeResourcesMostAllocated, weight: 7}]}}\n"
    )
    loaded = scheduler_config.load(str(file))
    weights = {entry.plugin.name: entry.weight for entry in loaded.profiles["default-scheduler"].score}

    assert 7 == weights["NodeResourcesFit"]
    assert ("NodeResourcesMostAllocated is read as the MostAllocated strategy of NodeResourcesFit",) == loaded.notes


REFUSED = {
    "not a configuration": ("kind: Pod\n", 1, "not a KubeSchedulerConfiguration"),
    "unknown version": (
        HEAD.replace("/v1\n", "/v2\n"),
        1,
        (
            "unknown apiVersion kubescheduler.config.k8s.io/v2: there are kubescheduler.config.k8s.io/v1, "
            "kubescheduler.config.k8s.io/v1beta3, kubescheduler.config.k8s.io/v1beta2, "
            "kubescheduler.config.k8s.io/v1beta1, kubescheduler.config.k8s.io/v1alpha2"
        ),
    ),
    "profiles of the wrong type": (
        HEAD + "profiles: 3\n",
        3,
        (
            "json: cannot unmarshal number into Go struct field KubeSchedulerConfiguration.profiles of type "
            "[]v1.KubeSchedulerProfile"
        ),
    ),
    "System with constraints": (
        SPREAD + "      defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]\n",
        6,
        (
            'profiles[0].pluginConfig[0].args.defaultingType: Invalid value: "System": '
            "when .defaultConstraints are not empty"
        ),
    ),
    "a selector": (
        SPREAD + "      defaultingType: List\n      defaultConstraints:\n"
        "      - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {}}\n",
        9,
        (
            "profiles[0].pluginConfig[0].args.defaultConstraints[0].labelSelector: Forbidden: "
            "constraint must not define a "
            "selector, as they deduced for each pod"
        ),
    ),
    "maxSkew of zero": (
        SPREAD + "      defaultingType: List\n      defaultConstraints:\n"
        "      - {topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}\n",
        9,
        (
            "profiles[0].pluginConfig[0].args.defaultConstraints[0].maxSkew: Invalid value: 0: "
            "not in valid range (0, inf)"
        ),
    ),
    "a pair twice, told at the later one": (
        SPREAD + "      defaultingType: List\n      defaultConstraints:\n"
        "      - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}\n"
        "      - {maxSkew: 2, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}\n",
        10,
        'profiles[0].pluginConfig[0].args.defaultConstraints[1]: Duplicate value: "{zone, ScheduleAnyway}"',
    ),
    "a plugin twice": (
        HEAD + "profiles:\n- plugins:\n    score:\n      enabled:\n      - {name: ImageLocality}\n"
        "      - {name: ImageLocality}\n",
        8,
        'plugin "ImageLocality" already registered as "ImageLocality"',
    ),
    "an unknown field, and one of the args": (
        HEAD + "profile: []\nprofiles:\n- pluginConfig:\n  - name: NodeAffinity\n    args: {added: {}}\n",
        3,
        (
            'strict decoding error: unknown field "profile", decoding .profiles[0].pluginConfig[0]: strict decoding '
            'error: decoding args for plugin NodeAffinity: strict decoding error: unknown field "added"'
        ),
    ),
    "args of the wrong type": (
        HEAD + "profiles:\n- pluginConfig:\n  - name: VolumeBinding\n    args: {bindTimeoutSeconds: soon}\n",
        6,
        (
            "decoding .profiles[0].pluginConfig[0]: decoding args for plugin VolumeBinding: json: cannot unmarshal "
            "string into Go struct field VolumeBindingArgs.bindTimeoutSeconds of type int64"
        ),
    ),
    "no names for two profiles": (
        HEAD + "profiles:\n- {}\n- {schedulerName: b}\n",
        4,
        "profiles[0].schedulerName: Required value",
    ),
    "a name twice": (
        HEAD + "profiles:\n- {schedulerName: b}\n- {schedulerName: b}\n",
        5,
        "profiles[1].schedulerName: Duplicate value: profiles[0].schedulerName",
    ),
    "parallelism": (
        HEAD + "parallelism: 0\n",
        3,
        "parallelism: Invalid value: 0: should be an integer value greater than zero",
    ),
    "a percentage": (
        HEAD + "profiles: [{percentageOfNodesToScore: 101}]\n",
        3,
        "profiles[0].percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]",
    ),
    "initial backoff": (
        HEAD + "podInitialBackoffSeconds: 0\n",
        3,
        "podInitialBackoffSeconds: Invalid value: 0: must be greater than 0",
    ),
    "backoff that shrinks": (
        HEAD + "podInitialBackoffSeconds: 20\n",
        1,
        "podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to PodInitialBackoffSeconds",
    ),
    "burst": (
        HEAD + "clientConnection: {burst: -1}\n",
        3,
        "clientConnection.burst: Invalid value: -1: must be non-negative",
    ),
    "a lock that is not a lease": (
        HEAD + "leaderElection: {resourceLock: endpoints}\n",
        3,
        'leaderElection.resourceLock: Invalid value: "endpoints": resourceLock value must be "leases"',
    ),
    "two ways to sort": (
        HEAD + "profiles:\n- plugins: {queueSort: {enabled: [{name: A}, {name: B}]}}\n",
        4,
        "profiles[0].plugins.queueSort.Enabled: Invalid value: 2: only one queue sort plugin can be enabled",
    ),
    "profiles that sort differently": (
        HEAD + "profiles:\n- {schedulerName: a}\n- schedulerName: b\n  plugins: {queueSort: {enabled: [{name: A}]}}\n",
        6,
        (
            'profiles[1].plugins.queueSort: Invalid value: {"Enabled":[{"Name":"A","Weight":0}],"Disabled":null}: '
            "must be the same for all profiles"
        ),
    ),
    "a plugin that was removed": (
        HEAD + "profiles:\n- plugins: {filter: {enabled: [{name: EBSLimits}]}}\n",
        4,
        (
            'profiles[0].plugins.filter.enabled[0]: Invalid value: "EBSLimits": was invalid in version "v1" '
            '(KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")'
        ),
    ),
    "args twice": (
        HEAD + "profiles:\n- pluginConfig:\n  - {name: NodeAffinity, args: {}}\n  - {name: NodeAffinity, args: {}}\n",
        6,
        'profiles[0].pluginConfig[1]: Duplicate value: "NodeAffinity"',
    ),
    "an extender without weight": (
        HEAD + "extenders: [{urlPrefix: http://x, prioritizeVerb: p}]\n",
        3,
        "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it",
    ),
    "a managed resource that is native": (
        HEAD + "extenders: [{urlPrefix: http://x, managedResources: [{name: cpu}]}]\n",
        3,
        'extenders[0].managedResources[0].name: Invalid value: "cpu": is an invalid extended resource name',
    ),
    "a managed resource twice": (
        HEAD + "extenders: [{managedResources: [{name: a.b/c}, {name: a.b/c}]}]\n",
        3,
        'extenders[0].managedResources[1].name: Invalid value: "a.b/c": duplicate extender managed resource name',
    ),
    "two extenders that bind": (
        HEAD + "extenders: [{bindVerb: b}, {bindVerb: b}]\n",
        3,
        'extenders: Invalid value: "found 2 extenders implementing bind": only one extender can implement bind',
    ),
}

ARGS = "profiles[0].pluginConfig[0].args."
FIT = 'initializing plugin "NodeResourcesFit": '
ADDED = ARGS + "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
REQUIRED = "addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{%s}]}}"
RATIO = "scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [%s]}}"
SHAPE_PATH = FIT + "scoringStrategy.requestedToCapacityRatio"
REFUSED_ARGS = [
    (
        "DefaultPreemption",
        "minCandidateNodesPercentage: 101",
        f"{ARGS}minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, 100]",
    ),
    (
        "DefaultPreemption",
        "minCandidateNodesAbsolute: -1",
        f"{ARGS}minCandidateNodesAbsolute: Invalid value: -1: not in valid range [0, inf)",
    ),
    (
        "DefaultPreemption",
        "minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0",
        (
            f"{ARGS}minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as "
            "minCandidateNodesAbsolute"
        ),
    ),
    (
        "InterPodAffinity",
        "hardPodAffinityWeight: 101",
        f"{ARGS}hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]",
    ),
    (
        "NodeResourcesBalancedAllocation",
        "resources: [{name: cpu, weight: 2}]",
        f"{ARGS}resources[0].weight: Invalid value: 2: must be 1",
    ),
    (
        "NodeResourcesBalancedAllocation",
        "resources: [{name: cpu}, {name: cpu}]",
        f'{ARGS}resources[1].name: Duplicate value: "cpu"',
    ),
    (
        "VolumeBinding",
        "bindTimeoutSeconds: -1",
        f"{ARGS}bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value",
    ),
    (
        "VolumeBinding",
        "shape: [{utilization: 100, score: 10}]",
        (
            f'{ARGS}shape: Invalid value: [{{"Utilization":100,"Score":10}}]: unexpected field `shape`, remove it or '
            "turn on the feature gate StorageCapacityScoring"
        ),
    ),
    (
        "NodeAffinity",
        REQUIRED % "matchExpressions: [{key: a, operator: Has}]",
        (
            f'{ADDED}matchExpressions[0].operator: Unsupported value: "Has": supported values: "In", "NotIn", '
            '"Exists", "DoesNotExist", "Gt", "Lt"'
        ),
    ),
    (
        "NodeAffinity",
        REQUIRED % "matchExpressions: [{key: a, operator: In}]",
        (
            f"{ADDED}matchExpressions[0].values: Invalid value: null: for 'in', 'notin' operators, values set can't "
            "be empty"
        ),
    ),
    (
        "NodeAffinity",
        REQUIRED % "matchExpressions: [{key: a, operator: Exists, values: [b]}]",
        (
            f'{ADDED}matchExpressions[0].values: Invalid value: ["b"]: values set must be empty for exists and does '
            "not exist"
        ),
    ),
    (
        "NodeAffinity",
        REQUIRED % "matchExpressions: [{key: a, operator: Gt, values: [b]}]",
        (
            f"{ADDED}matchExpressions[0].values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be "
            "an integer"
        ),
    ),
    (
        "NodeAffinity",
        REQUIRED % "matchExpressions: [{key: a, operator: Gt, values: []}]",
        (
            f"{ADDED}matchExpressions[0].values: Invalid value: []: for 'Gt', 'Lt' operators, exactly one value is "
            "required"
        ),
    ),
    (
        "NodeAffinity",
        REQUIRED % "matchFields: [{key: metadata.name, operator: In}]",
        f"{ADDED}matchFields[0].values: Invalid value: null: must have one element",
    ),
    (
        "NodeAffinity",
        (
            "addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: "
            "{matchFields: [{key: metadata.name, operator: Gt}]}}]}"
        ),
        (
            f"{ARGS}addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].matchFields[0].operator: "
            'Unsupported value: "Gt": supported values: "In", "NotIn"'
        ),
    ),
    (
        "NodeResourcesFit",
        "ignoredResourceGroups: [example.com/a]",
        f"{FIT}ignoredResourceGroups[0]: Invalid value: \"example.com/a\": resource group name can't contain '/'",
    ),
    (
        "NodeResourcesFit",
        "ignoredResources: [/a]",
        f'{FIT}ignoredResources[0]: Invalid value: "/a": prefix part must be non-empty',
    ),
    (
        "NodeResourcesFit",
        "scoringStrategy: {type: Best}",
        (
            f'{FIT}scoringStrategy.type: Unsupported value: "Best": supported values: "LeastAllocated", '
            '"MostAllocated", "RequestedToCapacityRatio"'
        ),
    ),
    (
        "NodeResourcesFit",
        "scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 101}]}",
        (
            f"{FIT}scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of cpu not in valid range "
            "(0, 100]"
        ),
    ),
    (
        "NodeResourcesFit",
        "scoringStrategy: {type: MostAllocated, requestedToCapacityRatio: {}}",
        f"{SHAPE_PATH}: Forbidden: must be nil when type is not RequestedToCapacityRatio",
    ),
    (
        "NodeResourcesFit",
        "scoringStrategy: {type: RequestedToCapacityRatio}",
        f"{SHAPE_PATH}: Required value: must be specified when type is RequestedToCapacityRatio",
    ),
    ("NodeResourcesFit", RATIO % "", f"{SHAPE_PATH}.shape: Required value: at least one point must be specified"),
    (
        "NodeResourcesFit",
        RATIO % "{utilization: 50}, {utilization: 50}",
        f"{SHAPE_PATH}.shape[1].utilization: Invalid value: 50: values must be sorted in increasing order",
    ),
    (
        "NodeResourcesFit",
        RATIO % "{utilization: 101}",
        f"{SHAPE_PATH}.shape[0].utilization: Invalid value: 101: not in valid range [0, 100]",
    ),
    (
        "NodeResourcesFit",
        RATIO % "{score: 11}",
        f"{SHAPE_PATH}.shape[0].score: Invalid value: 11: not in valid range [0, 10]",
    ),
]


@pytest.mark.parametrize(("plugin", "args", "message"), REFUSED_ARGS, ids=[item[2][-50:] for item in REFUSED_ARGS])
def test_args_that_stop_the_scheduler_are_refused_in_its_words(
    plugin: str, args: str, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(f"{HEAD}profiles:\n- pluginConfig:\n  - name: {plugin}\n    args: {{{args}}}\n")
    with pytest.raises(SourceError) as raised:
        scheduler_config.load(str(file))

    assert (message, 6) == (raised.value.message, raised.value.line)


ACCEPTED = {
    "defaults of every field": "profiles: []\n",
    "weights of zero count as one": (
        "profiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n    args:\n"
        "      scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 0}]}\n"
    ),
    "an empty term, and a preference without weight": (
        "profiles:\n- pluginConfig:\n  - name: NodeAffinity\n    args:\n      addedAffinity:\n"
        "        requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}]}\n"
        "        preferredDuringSchedulingIgnoredDuringExecution:\n"
        "        - {weight: 0, preference: {matchFields: [{operator: X}]}}\n"
    ),
    "null in lists": (
        "profiles: [{schedulerName: a, plugins: {multiPoint: {disabled: [null]}}, pluginConfig: [null,\n"
        "  {name: NodeResourcesBalancedAllocation, args: {resources: [null]}},\n"
        "  {name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, resources: [null]}}}]}]\n"
    ),
    "args of a plugin that nobody knows": "profiles: [{pluginConfig: [{name: Mine, args: {any: thing}}]}]\n",
    "no election, so any lock": "leaderElection: {leaderElect: false, resourceLock: endpoints}\n",
    "profiles that sort the same": (
        "profiles:\n- {schedulerName: a, plugins: {queueSort: {enabled: []}}}\n- {schedulerName: b}\n"
    ),
}


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED)
def test_a_configuration_that_the_scheduler_takes_is_taken(text: str, tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(HEAD + text)

    assert scheduler_config.load(str(file)).profiles


def test_what_older_versions_have_is_not_refused(tmp_path: Path) -> None:
    """Fields that v1 does not know, plugins that it removed, and the points of a ratio."""
    file = tmp_path / "config.yaml"
    file.write_text(
        HEAD.replace("/v1\n", "/v1beta1\n") + "disablePreemption: true\n"
        "profiles:\n- plugins:\n    filter: {enabled: [{name: EBSLimits}]}\n"
        "    score: {enabled: [{name: RequestedToCapacityRatio, weight: 2}]}\n"
        "  pluginConfig:\n  - name: RequestedToCapacityRatio\n    args: {shape: [{utilization: 0, score: 10}]}\n"
    )
    loaded = scheduler_config.load(str(file))

    assert (
        "EBSLimits is read as NodeVolumeLimits",
        "RequestedToCapacityRatio is read as the RequestedToCapacityRatio strategy of NodeResourcesFit",
    ) == loaded.notes
    assert () == loaded.profiles["default-scheduler"].foreign


@pytest.mark.parametrize(("text", "line", "message"), REFUSED.values(), ids=REFUSED)
def test_a_configuration_that_stops_the_scheduler_is_refused(
    text: str, line: int, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    with pytest.raises(SourceError) as raised:
        scheduler_config.load(str(file))

    assert (message, line) == (raised.value.message, raised.value.line)


@pytest.mark.parametrize("text", ["1.17", "1.99", "2.0", "one", "", "1", "1.34.", "1.34.x"])
def test_a_version_without_known_rules_is_refused(text: str) -> None:
    with pytest.raises(VersionError):
        nearest_release(release_of(text))


def test_fields_that_an_old_release_ignores_are_ignored() -> None:
    rows = (behaviours.MIN_DOMAINS, behaviours.INCLUSION_POLICIES, behaviours.MATCH_LABEL_KEYS)
    fields = [tuple(row.of(nearest_release(release_of(f"1.{minor}"))) for row in rows) for minor in (25, 26, 27)]

    assert [(False, False, False), (False, True, False), (True, True, True)] == fields
