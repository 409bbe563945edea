"""Behaviour changes between Kubernetes 1.18 and 1.38, as one table.

Every difference that the program follows is a row here, and the code for that difference reads the row. A row's
`reader` is the plugin, or the part of the framework, with this behaviour. The releases come from upstream's sources,
its backports, and recordings of its decisions. What begins after the newest recorded release is known from release
notes and pull requests only.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Generic, Optional, TypeVar

from kubectl_spread.objects.releases.version import LAST_MINOR, LATEST, Release, release_of
from kubectl_spread.objects.resources import Sums

T = TypeVar("T")


class Impact(Enum):
    """What a behaviour can change."""

    PLACEMENT = "placement"  # the feasible nodes, or the choice among them
    TEXT = "text"  # a reason, a code or a message
    SCORES = "scores"  # the table of scores, and not the order of the nodes
    VALIDATION = "validation"  # refusals of the API server
    TIME = "time"  # what controllers do over time


class Era(Generic[T]):
    """A value, the release in which it begins, and its description. It ends with the next era."""

    __slots__ = ("since", "value", "words")

    def __init__(self, since: Release, value: T, words: str) -> None:
        self.since = since
        self.value = value
        self.words = words

    @property
    def is_recorded(self) -> bool:
        """Return whether decisions of this era were recorded."""
        return self.since <= LATEST


class Behaviour(Generic[T]):
    """The behaviour of one plugin in each release.

    name: for people and for JSON. reader: the plugin, or the part of the framework. source: the upstream file.
    eras: oldest first. A change that was backported has an era for each minor version in between.
    """

    # Not a dataclass: importing these costs as much as the whole table.
    __slots__ = ("_values", "effect", "eras", "name", "reader", "source")

    def __init__(self, name: str, reader: str, source: str, effect: Impact, eras: tuple[Era[T], ...]) -> None:
        self.name = name
        self.reader = reader
        self.source = source
        self.effect = effect
        self.eras = eras
        self._values: dict[Release, T] = {}  # perf: each class of pods reads a dozen of them

    def era(self, release: Release) -> Era[T]:
        """Return the era that a release belongs to; the first era if the release is older than all."""
        return next((era for era in reversed(self.eras) if era.since <= release), self.eras[0])

    def of(self, release: Release) -> T:
        """Return the value in a release."""
        if release not in self._values:
            self._values[release] = self.era(release).value
        return self._values[release]

    def minors(self, release: Release) -> tuple[int, int]:
        """Return the first and the last minor version with the behaviour of a release, those of one patch included."""
        at = self.eras.index(self.era(release))
        if at + 1 == len(self.eras):
            return self.eras[at].since.minor, LAST_MINOR
        end = self.eras[at + 1].since
        return self.eras[at].since.minor, end.minor if end.patch else end.minor - 1

    def span(self, release: Release) -> str:
        """Return the releases that behave like one, `1.27 to 1.37`."""
        return " to ".join(f"1.{minor}" for minor in dict.fromkeys(self.minors(release)))

    @property
    def begin(self) -> str:
        """Return the minor version in which the last era begins, `1.37`."""
        return f"1.{self.eras[-1].since.minor}"


def era_since(version: str, value: T, words: str) -> Era[T]:
    """Make an era that begins in `1.24` (its first patch) or in `1.34.4`."""
    text = version if version.count(".") > 1 else f"{version}.0"
    return Era(release_of(text), value, words)


def switch(name: str, reader: str, source: str, effect: Impact, *versions: str, off: str, on: str) -> Behaviour[bool]:
    """Make a behaviour that is off at first and turned over by each of the versions."""
    turns = [era_since("1.18", value=False, words=off)]
    for at, version in enumerate(versions):
        is_on = at % 2 == 0
        turns.append(era_since(version, value=is_on, words=on if is_on else off))
    return Behaviour(name, reader, source, effect, tuple(turns))


def texts(name: str, reader: str, source: str, *wordings: tuple[str, str]) -> Behaviour[str]:
    """Make a behaviour from versions and the text used since each; an empty text is not written."""
    eras = (era_since(version, text, f"says {_shown(text)}" if text else "has no reason") for version, text in wordings)
    return Behaviour(name, reader, source, Impact.TEXT, tuple(eras))


def _field(name: str, fields: str, *, known: str, on: str) -> Behaviour[Optional[bool]]:
    """Make a behaviour from newer fields of constraints: None while no API server knows them, then off, then on."""
    eras: tuple[Era[Optional[bool]], ...] = (
        era_since("1.18", None, f"the API server does not know {fields}"),
        era_since(known, value=False, words=f"the API server drops {fields}"),
        era_since(on, value=True, words=f"the API server stores {fields}"),
    )
    return Behaviour(name, "PodTopologySpread", _GATES, Impact.PLACEMENT, eras)


def _shown(text: str) -> str:
    """Quote a text in backquotes, with `{key: value}` as upstream's documents write it."""
    return f"`{text.replace('{{{', '{').replace('}}}', '}').replace('}: {', ': ')}`"


_PLUGINS = "pkg/scheduler/framework/plugins"
_FIT = f"{_PLUGINS}/noderesources/fit.go"
_BALANCE = f"{_PLUGINS}/noderesources/balanced_allocation.go"
_SPREAD = f"{_PLUGINS}/podtopologyspread"
_POD_AFFINITY = f"{_PLUGINS}/interpodaffinity"
_NODE_AFFINITY = f"{_PLUGINS}/nodeaffinity/node_affinity.go"
_VOLUME_BINDING = f"{_PLUGINS}/volumebinding/volume_binding.go"
_BINDER = f"{_PLUGINS}/volumebinding/binder.go"
_CYCLE = "pkg/scheduler/schedule_one.go"
_TYPES = "pkg/scheduler/framework/types.go"
_PREEMPTION = "pkg/scheduler/framework/preemption/preemption.go"
_VICTIMS = f"{_PLUGINS}/defaultpreemption/default_preemption.go"
_DEFAULTS = "pkg/scheduler/apis/config/v1/default_plugins.go"
_ONE_POD = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
_VALIDATION = "pkg/apis/core/validation/validation.go"
_GATES = "pkg/features/kube_features.go"


# Resources

REQUEST_SUMS = Behaviour(
    "request-sums",
    "NodeResourcesFit",
    _TYPES,
    Impact.PLACEMENT,
    (
        era_since(
            "1.18", Sums.PER_CONTAINER, "rounds requests per container; scores count an overhead's CPU in whole cores"
        ),
        era_since("1.22", Sums.WITHOUT_OVERHEAD, "rounds requests per container; scores leave out the overhead"),
        era_since(
            "1.24", Sums.PER_CONTAINER, "rounds requests per container; scores count an overhead's CPU in whole cores"
        ),
        era_since(
            "1.27", Sums.EXACT, "adds up exact requests; a bound pod's sidecars count as init containers in scores"
        ),
        era_since("1.32", Sums.SIDECARS, "adds up exact requests; a bound pod's sidecars count in scores"),
        era_since("1.33", Sums.RESIZED, "counts a container under resize with its largest requests"),
        era_since("1.34", Sums.POD_LEVEL, "counts resources of the pod as a whole, too"),
    ),
)
# fmt: off
FIT_SKIPS_UNREQUESTED = switch(
    "fit-skips-unrequested", "NodeResourcesFit", _FIT, Impact.PLACEMENT, "1.28",
    off="a node with more CPU or memory in use than it has refuses every pod that requests anything",
    on="a resource that the pod does not request is not compared",
)
FIT_SKIPS_ZERO = switch(
    "fit-skips-zero", "NodeResourcesFit", _FIT, Impact.PLACEMENT, "1.26",
    off="a node with more of an extended resource in use than it has refuses a pod that requests 0 of it",
    on="an extended resource with a request of 0 is not compared",
)
FIT_TOO_LARGE_IS_FINAL = switch(
    "fit-too-large", "NodeResourcesFit", _FIT, Impact.TEXT, "1.34",
    off="a request larger than the whole node is Unschedulable, and preemption tries the node",
    on="a request larger than the whole node is UnschedulableAndUnresolvable",
)
SIDECARS = switch(
    "sidecars", "NodeResourcesFit", _GATES, Impact.PLACEMENT, "1.29",
    off="restartPolicy of an init container is ignored",
    on="an init container with restartPolicy Always runs beside the containers",
)
POD_RESOURCES = switch(
    "pod-resources", "NodeResourcesFit", _GATES, Impact.PLACEMENT, "1.34",
    off="resources of the pod as a whole are ignored",
    on="resources of the pod as a whole count",
)
FIT_SCORES = switch(
    "fit-scores", "NodeResourcesFit", _DEFAULTS, Impact.SCORES, "1.22",
    off="NodeResourcesLeastAllocated scores by default",
    on="NodeResourcesFit scores by default, with its scoringStrategy",
)
ALLOCATION_SKIPS_ABSENT = switch(
    "allocation-skips-absent", "NodeResourcesFit", f"{_PLUGINS}/noderesources/least_allocated.go", Impact.PLACEMENT,
    "1.22",
    off="a resource that the node does not have scores 0",
    on="a resource that the node does not have is left out of the score",
)
BALANCE_BY_DEVIATION = switch(
    "balance-by-deviation", "NodeResourcesBalancedAllocation", _BALANCE, Impact.PLACEMENT, "1.22",
    off="scores the difference of CPU and memory, with defaults for pods that request none, and 0 where one is full",
    on="scores the standard deviation of the requested shares of the resources in its arguments",
)
BALANCE_SKIPS = switch(
    "balance-skips", "NodeResourcesBalancedAllocation", _BALANCE, Impact.PLACEMENT, "1.33",
    off="scores pods that request nothing, too",
    on="is skipped for a pod that requests none of its resources",
)
BALANCE_COMPARES = switch(
    "balance-compares", "NodeResourcesBalancedAllocation", _BALANCE, Impact.PLACEMENT, "1.36",
    off="scores how evenly the node's resources would be used",
    on="scores by how much the pod makes their use more or less even",
)

# Images

IMAGES_OF_INIT_CONTAINERS = switch(
    "images-of-init-containers", "ImageLocality", f"{_PLUGINS}/imagelocality/image_locality.go", Impact.PLACEMENT,
    "1.30",
    off="counts the images of containers",
    on="counts the images of init containers, too",
)
IMAGES_OF_VOLUMES = switch(
    "images-of-volumes", "ImageLocality", f"{_PLUGINS}/imagelocality/image_locality.go", Impact.PLACEMENT, "1.35",
    off="does not count the images of image volumes",
    on="counts the images of image volumes, too",
)
IMAGE_VOLUMES_RAISE_MAXIMUM = switch(
    "image-volumes-raise-maximum", "ImageLocality", f"{_PLUGINS}/imagelocality/image_locality.go", Impact.PLACEMENT,
    "1.37",
    off="the score's upper threshold grows with each container",
    on="the score's upper threshold grows with each container and each image volume",
)

# Spreading

SYSTEM_DEFAULTS = switch(
    "system-default-constraints", "PodTopologySpread", f"{_SPREAD}/plugin.go", Impact.PLACEMENT, "1.20",
    off="SelectorSpread spreads the pods of Services and controllers",
    on="built-in default constraints spread the pods of Services and controllers",
)
SPREAD_WEIGHS_DOUBLE = switch(
    "spread-weight", "the default profile", _DEFAULTS, Impact.PLACEMENT, "1.19",
    off="PodTopologySpread has weight 1",
    on="PodTopologySpread has weight 2",
)
DEFAULTS_BY_OWNER = switch(
    "defaults-by-owner", "PodTopologySpread", f"{_PLUGINS}/helper/spread.go", Impact.PLACEMENT, "1.22",
    off="default constraints count by the selector of every controller that selects the pod",
    on="default constraints count by the selector of the pod's own controller",
)
MIN_DOMAINS = _field("min-domains", "minDomains", known="1.24", on="1.27")
INCLUSION_POLICIES = _field("inclusion-policies", "nodeAffinityPolicy and nodeTaintsPolicy", known="1.25", on="1.26")
MATCH_LABEL_KEYS = _field("match-label-keys", "matchLabelKeys", known="1.25", on="1.27")
EMPTY_SELECTOR_COUNTS_NONE = switch(
    "empty-selector", "PodTopologySpread", f"{_SPREAD}/common.go", Impact.PLACEMENT, "1.27", "1.38",
    off="an empty labelSelector counts every pod of the namespace",
    on="an empty labelSelector counts no pod",
)
ONLY_INCLUDED_NODES_COUNT = switch(
    "only-included-nodes", "PodTopologySpread", f"{_SPREAD}/filtering.go", Impact.PLACEMENT, "1.24",
    off="Filter counts the pods of every node of a domain, once one of its nodes is included",
    on="Filter counts the pods of included nodes only",
)
SPREAD_LABEL_REASON = switch(
    "spread-label-reason", "PodTopologySpread", f"{_SPREAD}/filtering.go", Impact.TEXT, "1.19",
    off="a node without the topology key is Unschedulable, and the reason does not mention the label",
    on="a node without the topology key is UnschedulableAndUnresolvable (missing required label)",
)
SPREAD_ROUNDS = switch(
    "spread-rounds", "PodTopologySpread", f"{_SPREAD}/scoring.go", Impact.PLACEMENT, "1.24",
    off="scores are cut to whole numbers",
    on="scores are rounded",
)
SPREAD_SKIPS_SCORE = switch(
    "spread-skips-score", "PodTopologySpread", f"{_SPREAD}/scoring.go", Impact.SCORES, "1.28",
    off="scores 100 everywhere for a pod without soft constraints",
    on="does not score a pod without soft constraints",
)

# Affinity

WEIGHTS_DIFFER = switch(
    "weights-differ", "the default profile", _DEFAULTS, Impact.PLACEMENT, "1.23",
    off="TaintToleration, NodeAffinity and InterPodAffinity have weight 1",
    on="TaintToleration has weight 3, NodeAffinity and InterPodAffinity 2",
)
POD_AFFINITY_NAMES_ONE = switch(
    "pod-affinity-names-one", "InterPodAffinity", f"{_POD_AFFINITY}/filtering.go", Impact.TEXT, "1.22",
    off="names the rule that a node breaks, after a general reason for all rules",
    on="names only the rule that a node breaks",
)
POD_AFFINITY_ANY = texts(
    "pod-affinity-any", "InterPodAffinity", f"{_POD_AFFINITY}/filtering.go",
    ("1.18", "node(s) didn't match pod affinity/anti-affinity"),
    ("1.21", "node(s) didn't match pod affinity/anti-affinity rules"),
    ("1.22", ""),
)
POD_AFFINITY_WITHOUT_ZERO = switch(
    "pod-affinity-normalizes", "InterPodAffinity", f"{_POD_AFFINITY}/scoring.go", Impact.PLACEMENT, "1.21",
    off="scores are scaled to the range of all nodes' scores and 0",
    on="scores are scaled to the range of all nodes' scores",
)
POD_AFFINITY_SKIPS_FILTER = switch(
    "pod-affinity-skips-filter", "InterPodAffinity", f"{_POD_AFFINITY}/filtering.go", Impact.PLACEMENT, "1.27",
    off="filters every pod",
    on="is skipped for a pod that no rule is about, so nominated pods cannot break a rule",
)
POD_AFFINITY_SKIPS_SCORE = switch(
    "pod-affinity-skips-score", "InterPodAffinity", f"{_POD_AFFINITY}/scoring.go", Impact.SCORES, "1.28",
    off="scores 0 everywhere where no term matches",
    on="does not score where no term matches",
)
IGNORES_PREFERRED_OF_EXISTING = switch(
    "ignore-preferred-terms", "InterPodAffinity", f"{_POD_AFFINITY}/scoring.go", Impact.PLACEMENT, "1.27",
    off="ignorePreferredTermsOfExistingPods is not known",
    on="ignorePreferredTermsOfExistingPods counts",
)
AFFINITY_MATCH_LABEL_KEYS = switch(
    "affinity-match-label-keys", "InterPodAffinity", _GATES, Impact.PLACEMENT, "1.31",
    off="matchLabelKeys and mismatchLabelKeys of pod affinity are ignored",
    on="matchLabelKeys and mismatchLabelKeys of pod affinity count",
)
NAMESPACE_SELECTOR = switch(
    "namespace-selector", "InterPodAffinity", _GATES, Impact.PLACEMENT, "1.22",
    off="namespaceSelector of pod affinity is ignored",
    on="namespaceSelector of pod affinity counts",
)
NODE_AFFINITY_REASON = texts(
    "node-affinity-reason", "NodeAffinity", _NODE_AFFINITY,
    ("1.18", "node(s) didn't match node selector"),
    ("1.20", "node(s) didn't match Pod's node affinity"),
    ("1.21", "node(s) didn't match Pod's node affinity/selector"),
)
NODE_AFFINITY_NARROWS = switch(
    "node-affinity-narrows", "NodeAffinity", _NODE_AFFINITY, Impact.PLACEMENT, "1.24",
    off="every node is filtered",
    on="only nodes that matchFields name are filtered",
)
NODE_AFFINITY_ALL_CONFLICT = switch(
    "node-affinity-conflict", "NodeAffinity", _NODE_AFFINITY, Impact.PLACEMENT, "1.27",
    off="one term whose matchFields contradict each other refuses the pod",
    on="the pod is refused if the matchFields of every term contradict each other",
)
NODE_AFFINITY_SKIPS_SCORE = switch(
    "node-affinity-skips-score", "NodeAffinity", _NODE_AFFINITY, Impact.SCORES, "1.30",
    off="scores 0 everywhere for a pod without preferred terms",
    on="does not score a pod without preferred terms",
)
NODE_NAME_REASON = texts(
    "node-name-reason", "NodeName", f"{_PLUGINS}/nodename/node_name.go",
    ("1.18", "node(s) didn't match the requested hostname"),
    ("1.21", "node(s) didn't match the requested node name"),
)
TAINT_REASON = texts(
    "taint-reason", "TaintToleration", f"{_PLUGINS}/tainttoleration/taint_toleration.go",
    ("1.18", "node(s) had taint {{{key}: {value}}}, that the pod didn't tolerate"),
    ("1.24", "node(s) had untolerated taint {{{key}: {value}}}"),
    ("1.34.3", "node(s) had untolerated taint(s)"),
)
PREFER_AVOID_PODS = switch(
    "prefer-avoid-pods", "NodePreferAvoidPods", f"{_PLUGINS}/nodepreferavoidpods/node_prefer_avoid_pods.go",
    Impact.PLACEMENT, "1.22",
    off="a node's annotation scheduler.alpha.kubernetes.io/preferAvoidPods keeps controllers' pods away, weight 10000",
    on="the annotation is ignored",
)

# Volumes

VOLUME_AFFINITY_REASON = texts(
    "volume-affinity-reason", "VolumeBinding", _BINDER,
    ("1.18", "node(s) had volume node affinity conflict"),
    ("1.33", "node(s) didn't match PersistentVolume's node affinity"),
)
VOLUME_GONE_REASON = texts(
    "volume-gone-reason", "VolumeBinding", _BINDER,
    ("1.18", "pvc(s) bound to non-existent pv(s)"),
    ("1.23", "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"),
)
ONE_POD_REASON = texts(
    "one-pod-reason", "VolumeRestrictions", f"{_PLUGINS}/volumerestrictions/volume_restrictions.go",
    ("1.18", "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"),
    ("1.34", _ONE_POD),
)
ONE_POD = switch(
    "read-write-once-pod", "VolumeRestrictions", _GATES, Impact.PLACEMENT, "1.27",
    off="the access mode ReadWriteOncePod is ignored",
    on="the access mode ReadWriteOncePod counts",
)
RESTRICTIONS_SKIP = switch(
    "restrictions-skip", "VolumeRestrictions", f"{_PLUGINS}/volumerestrictions/volume_restrictions.go",
    Impact.PLACEMENT, "1.28",
    off="filters every pod",
    on="is skipped for a pod whose volumes no bound pod uses, without regard to nominated pods",
)
LOST_CLAIM_IN_PRE_FILTER = switch(
    "lost-claim", "VolumeBinding", _VOLUME_BINDING, Impact.TEXT, "1.23",
    off="each node refuses a pod whose claim has lost its volume",
    on="PreFilter refuses a pod whose claim has lost its volume",
)
EPHEMERAL_CLAIM_MESSAGES = switch(
    "ephemeral-claims", "VolumeBinding", _VOLUME_BINDING, Impact.TEXT, "1.23",
    off="a missing claim of an ephemeral volume is reported like any other claim",
    on="a missing claim of an ephemeral volume is reported as one that the controller will create",
)
VOLUME_BINDING_NARROWS = switch(
    "volume-binding-narrows", "VolumeBinding", _BINDER, Impact.PLACEMENT, "1.27", "1.29",
    off="every node is filtered",
    on="only the nodes that local volumes name are filtered",
)
VOLUME_BINDING_SCORES = switch(
    "volume-binding-scores", "VolumeBinding", _DEFAULTS, Impact.SCORES, "1.23",
    off="does not score by default",
    on="is among the plugins that score by default",
)
VOLUME_BINDING_SKIPS_SCORE = switch(
    "volume-binding-skips-score", "VolumeBinding", _VOLUME_BINDING, Impact.SCORES, "1.30",
    off="scores 0 everywhere without storage capacity scoring",
    on="does not score without storage capacity scoring",
)
ZONE_LABELS_ARE_ONE = switch(
    "zone-labels-are-one", "VolumeZone", f"{_PLUGINS}/volumezone/volume_zone.go", Impact.PLACEMENT, "1.29",
    off="a volume's failure-domain.beta label must be on the node under the same key",
    on="failure-domain.beta and topology.kubernetes.io labels count as one label",
)
VOLUME_ZONE_LOOKS_FIRST = switch(
    "volume-zone-looks-first", "VolumeZone", f"{_PLUGINS}/volumezone/volume_zone.go", Impact.TEXT, "1.27",
    off="VolumeBinding reports a missing volume for each node",
    on="PreFilter reports a missing volume",
)

# The cycle

TAINTS_BEFORE_RESOURCES = switch(
    "filter-order", "the default profile", _DEFAULTS, Impact.TEXT, "1.20",
    off="Filter looks at resources and ports before taints and node affinity",
    on="Filter looks at taints and node affinity before ports and resources",
)

NOMINATED_FIRST = switch(
    "nominated-node-first", "the scheduling cycle", _CYCLE, Impact.PLACEMENT, "1.22",
    off="a pod's own nominated node is tried like any other node",
    on="a pod's own nominated node is tried first",
)
GONE_NODE_IS_ERROR = switch(
    "gone-node-is-error", "the scheduling cycle", _CYCLE, Impact.TEXT, "1.24", "1.27.14", "1.28", "1.28.10", "1.29",
    "1.29.5",
    off="a missing node that matchFields name fits no pod",
    on="a missing node that matchFields name is a scheduling error",
)
LEFT_OUT_REASON = texts(
    "left-out-reason", "the scheduling cycle", _CYCLE,
    ("1.18", ""),
    ("1.27.14", "node is filtered out by the prefilter result"),
    ("1.27.15", ""),
    ("1.28.10", "node is filtered out by the prefilter result"),
    ("1.28.11", ""),
    ("1.29.5", "node is filtered out by the prefilter result"),
    ("1.29.6", ""),
    ("1.30", "node is filtered out by the prefilter result"),
    ("1.30.2", ""),
    ("1.32", "node(s) didn't satisfy plugin(s) [{plugins}]"),
)
PRE_FILTER_MESSAGE_ONCE = switch(
    "pre-filter-message", "the event's message", _TYPES, Impact.TEXT, "1.26",
    off="the reason of a PreFilter plugin is counted for every node",
    on="the reason of a PreFilter plugin is written once",
)
PREEMPTION_IN_MESSAGE = switch(
    "preemption-in-message", "the event's message", _TYPES, Impact.TEXT, "1.24",
    off="the message says nothing about preemption",
    on="the message says why preemption does not help",
)
PREEMPTION_SUCCESS_IN_MESSAGE = switch(
    "preemption-success", "the event's message", _VICTIMS, Impact.TEXT, "1.37",
    off="the message says nothing about a preemption that finds a node",
    on="the message names the node that a preemption found, and the number of victims",
)
SECOND_DOT = switch(
    "second-dot", "the event's message", _TYPES, Impact.TEXT, "1.26", "1.29",
    off="the part about preemption ends with one dot",
    on="the part about preemption ends with two dots",
)

# Preemption

PREEMPTION_TRIES_LEFT_OUT = switch(
    "preemption-tries-left-out", "DefaultPreemption", _PREEMPTION, Impact.PLACEMENT, "1.24", "1.27.14", "1.28",
    "1.28.10", "1.29", "1.29.5",
    off="nodes that a PreFilter result left out are not candidates",
    on="nodes that a PreFilter result left out are candidates",
)
PREEMPTION_TRIES_REFUSED = switch(
    "preemption-tries-refused", "DefaultPreemption", _PREEMPTION, Impact.TEXT, "1.26", "1.27.15",
    off="a pod that PreFilter refuses has no candidates",
    on="a pod that PreFilter refuses has every node as candidate",
)
DRY_RUN_COUNTS_INCLUDED = switch(
    "dry-run-counts-included", "PodTopologySpread", f"{_SPREAD}/filtering.go", Impact.PLACEMENT, "1.24",
    off="preemption changes the counts of nodes that the pod's node affinity excludes, too",
    on="preemption changes the counts of included nodes only",
)
VICTIMS_SORTED = switch(
    "victims-sorted", "DefaultPreemption", _VICTIMS, Impact.PLACEMENT, "1.29",
    off="the first victim counts as the most important one",
    on="victims are sorted before nodes are compared",
)
ONLY_PREEMPTED_VICTIMS = switch(
    "waits-for-preempted", "DefaultPreemption", _VICTIMS, Impact.PLACEMENT, "1.27",
    off="a preemptor waits for every terminating pod of lower priority on its nominated node",
    on="a preemptor waits for pods that were preempted on its nominated node",
)

EMPTY_BUDGET_PROTECTS = switch(
    "empty-budget", "DefaultPreemption", _VICTIMS, Impact.PLACEMENT, "1.38",
    off="a disruption budget with an empty selector does not keep a pod from being chosen as victim",
    on="a disruption budget with an empty selector protects every pod of its namespace",
)
GATED_NOMINATION = switch(
    "gated-nomination", "the scheduling cycle", "pkg/scheduler/backend/queue/scheduling_queue.go", Impact.PLACEMENT,
    "1.37",
    off="a pod with scheduling gates reserves no room on its nominated node",
    on="a pod with scheduling gates keeps room on its nominated node from pods of lower priority",
)

# Features

SCHEDULING_GATES = switch(
    "scheduling-gates", "SchedulingGates", _GATES, Impact.PLACEMENT, "1.27",
    off="schedulingGates is ignored",
    on="schedulingGates hold a pod back",
)
CLAIMS = switch(
    "resource-claims", "DynamicResources", _GATES, Impact.TEXT, "1.34",
    off="DynamicResources does not run",
    on="DynamicResources runs, and adds words to the message",
)
CLAIMS_SCORE = switch(
    "resource-claims-score", "DynamicResources", f"{_PLUGINS}/dynamicresources/dynamicresources.go", Impact.SCORES,
    "1.35",
    off="DynamicResources does not score",
    on="DynamicResources scores",
)
CLAIMS_FOR_RESOURCES = switch(
    "resource-claims-for-resources", "NodeResourcesFit", _GATES, Impact.PLACEMENT, "1.36",
    off="an extended resource is an amount that the node reports",
    on="the devices of a DeviceClass may stand for an extended resource",
)
TOPOLOGY_LABELS = switch(
    "topology-labels", "the API server", _GATES, Impact.PLACEMENT, "1.35",
    off="pods do not get the zone and region labels of their node",
    on="pods get the zone and region labels of their node",
)
DECLARED_FEATURES = switch(
    "declared-features", "NodeDeclaredFeatures", _GATES, Impact.PLACEMENT, "1.36",
    off="NodeDeclaredFeatures does not run",
    on="a node must declare the features that a pod needs",
)

# The API server

SELECTOR_IS_VALIDATED = switch(
    "selector-is-validated", "the API server", _VALIDATION, Impact.VALIDATION, "1.27",
    off="a constraint's labelSelector may have any operators, keys and values; the scheduler fails later",
    on="a constraint's labelSelector must be valid",
)
MATCH_KEYS_ARE_MERGED = switch(
    "match-keys-are-merged", "the API server", _VALIDATION, Impact.VALIDATION, "1.34",
    off="a key in both matchLabelKeys and labelSelector is refused, in templates, too",
    on="creating a pod merges matchLabelKeys into the selector; then a key that is in both is refused",
)
LABEL_WORDS = switch(
    "label-words", "the API server", "staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go",
    Impact.VALIDATION, "1.35",
    off="a label key is `a qualified name`, and lengths are in characters",
    on="a label key is `a valid label key`, and lengths are in bytes",
)

# Controllers

_STATEFULSET = "pkg/controller/statefulset/stateful_set_control.go"
STATEFULSET_MAX_UNAVAILABLE = switch(
    "statefulset-max-unavailable", "the StatefulSet controller", _STATEFULSET, Impact.TIME, "1.35", "1.35.4", "1.37",
    off="maxUnavailable of a StatefulSet is dropped: a rollout replaces one pod at a time",
    on="maxUnavailable of a StatefulSet counts",
)
STATEFULSET_RECREATE = switch(
    "statefulset-recreate", "the API server", _VALIDATION, Impact.VALIDATION, "1.37",
    off="updateStrategy Recreate of a StatefulSet is refused",
    on="updateStrategy Recreate of a StatefulSet deletes every old pod before it creates new ones (in 1.37 only if the "
    "feature gate StatefulSetRecreateStrategy is on)",
)
DAEMONSET_SURGE_LEAVES = switch(
    "daemonset-surge-leaves-nodes", "the DaemonSet controller", "pkg/controller/daemon/update.go", Impact.TIME,
    "1.25.15", "1.26", "1.26.10", "1.27", "1.27.7", "1.28", "1.28.3",
    off="with maxSurge, a DaemonSet also creates new pods on nodes with an old pod whose taints keep the new one away",
    on="with maxSurge, a DaemonSet deletes old pods from nodes that should not run it, and creates none there",
)
ELASTIC_INDEXED_JOB = switch(
    "elastic-indexed-job", "the API server", "pkg/apis/batch/validation/validation.go", Impact.VALIDATION, "1.27",
    off="completions of a Job cannot change",
    on="completions of an Indexed Job can change together with an equal parallelism",
)
HPA_FROM_ZERO = switch(
    "hpa-to-zero", "the HorizontalPodAutoscaler controller", _GATES, Impact.VALIDATION, "1.37",
    off="minReplicas 0 of a HorizontalPodAutoscaler is refused",
    on="minReplicas may be 0 with an object or external metric",
)
# fmt: on


def table() -> tuple[Behaviour[Any], ...]:
    """Return every row, in the order of this module."""
    return tuple(value for value in globals().values() if isinstance(value, Behaviour))
