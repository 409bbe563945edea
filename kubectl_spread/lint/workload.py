"""A workload under check: its fields, their places, and values derived from them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from enum import Enum
from functools import cached_property
from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.lint.finding import Knowledge, Label
from kubectl_spread.objects.constraints import constraint as constraint_reader
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.reading.decode import path_text
from kubectl_spread.objects.reading.plain import fields, Plain
from kubectl_spread.objects.selectors import compile_selector, LabelRequirement, Selector
from kubectl_spread.objects.workloads.kinds import PodPlace
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.objects.workloads.workload import (
    awaits_labels,
    created_labels,
    is_partial,
    NAMED_BY_LABEL,
    PER_POD_LABELS,
    RELEASE_LABELS,
    revision_label,
    REVISION_LABELS,
    Workload,
    workload,
)
from kubectl_spread.text import scalars
from kubectl_spread.text.node import Node, Route
from kubectl_spread.text.source import Place

if TYPE_CHECKING:
    from kubectl_spread.lint.project import Neighbours, Project, ReplicaRange, TargetCluster
    from kubectl_spread.operations.known_cluster import KnownCluster

FIELD = "topologySpreadConstraints"

_HINTED = 4  # labels that a hint writes out

_compiled = functools.lru_cache(maxsize=4096)(compile_selector)  # many workloads have equal selectors


class Completion(Enum):
    """Whether something adds a labelSelector that is missing before the pods are created."""

    NONE = "none"
    CHART = "chart"  # the chart or the operator may add it
    SURE = "sure"  # another file or program adds it


class Area(NamedTuple):
    """The place of an object in a search: its file's directory, and whether the object names its namespace."""

    directory: str
    names_namespace: bool


class Subject:
    """A workload that decodes; the API server may still refuse it, with the codes of `refusals`.

    Routes lead from the root of the object. In `spec`, unlike in the workload's template, misspelt fields of
    constraints have the names that are meant. The `runner` is the object whose controller creates the pods: the
    manifest itself, unless another object takes its template from it. `has_pod` is False for constraints whose pods
    are not in the text (`outside`). Rules check a workload of a `project`, see `of_project`;
    `number` is its position there.
    """

    project: Project
    number: int
    has_pod = True
    siblings: Sequence[Subject] = ()  # the constraints without pods of the same source

    def __init__(
        self,
        manifest: Manifest,
        owner: Workload,
        at: PodPlace,
        refusals: frozenset[str],
        *,
        spec: Optional[Plain] = None,
    ) -> None:
        """Read a workload; `spec` is by default the template's."""
        self.manifest = manifest
        self.workload = owner
        self.kind = owner.kind
        self.runner = manifest
        self.refusals = refusals
        self.is_open = False  # refused only because of values that another tool or a base has yet to fill in
        self.template_route: Route = at.template
        self.spec_route: Route = at.spec
        self.spec: Plain = fields(owner.template, "spec") if spec is None else spec
        written = self.spec.get(FIELD) or ()
        self._written = constraint_reader.constraints(self.spec)
        self.constraints: tuple[TopologySpreadConstraint, ...] = self._written
        if any(["$patch" in (entry or ()) for entry in written]):  # noqa: C419 (a generator takes twice as long)
            self.constraints = tuple(item for item in self._written if "$patch" not in (written[item.position] or ()))

    @property
    def title(self) -> str:
        """Return the workload's kind and name for messages."""
        return f"{self.kind} `{self.workload.name}`"

    @cached_property
    def key(self) -> str:
        """Return the workload's key, which tells copies of one object from other workloads."""
        return self.workload.key

    @cached_property
    def is_partial(self) -> bool:
        """Return whether this is a patch of a workload, whose other fields are unknown."""
        return is_partial(self.workload)

    @property
    def knowledge(self) -> Knowledge:
        """Return how much is known about the pods."""
        return Knowledge.PARTLY if self.is_partial else Knowledge.KNOWN

    @property
    def completion(self) -> Completion:
        """Return whether something adds a selector that is missing: to a patch, its base."""
        return Completion.SURE if self.is_partial else Completion.NONE

    @property
    def without_selector(self) -> str:
        """Return what follows from a selector that is missing."""
        return "so the constraint counts no pods"

    def replaces(self, position: int) -> bool:  # noqa: ARG002 (of lists without pods)
        """Return whether, as a JSON patch, this replaces the constraint at a position of a base."""
        return True

    @property
    def holder(self) -> Route:
        """Return the route of the mapping that has the constraints."""
        return self.spec_route

    def names_itself(self, constraint: TopologySpreadConstraint) -> bool:
        """Return whether a constraint selects by a label that has the name of the object."""
        required = self.selector(constraint).requirements or ()
        return any(item.operator == "In" and item.values == (self.workload.name,) for item in required)

    def doubt(self, requirement: LabelRequirement) -> str:  # noqa: ARG002 (of lists without pods)
        """Return why pods that are not in the text hardly have a label; empty if they may."""
        return ""

    @property
    def completer(self) -> str:
        """Return the noun for what may add fields."""
        is_chart = not self.manifest.kind or self.manifest.kind in ("HelmRelease", "HelmChart", "HelmChartConfig")
        return "chart" if is_chart or self.manifest.kind.startswith("Application") else "operator"

    @cached_property
    def controller(self) -> Plain:
        """Return the spec of the controller; of a Pod its own."""
        return fields(self.manifest.plain, "spec")

    @cached_property
    def template_labels(self) -> dict[str, str]:
        """Return the labels in the pod template."""
        return constraint_reader.labels(fields(self.workload.template, "metadata"))

    @cached_property
    def labels(self) -> dict[str, str]:
        """Return the labels of a pod of this workload, including those its controller sets, with made-up values."""
        return created_labels(self.workload)

    @cached_property
    def has_known_labels(self) -> bool:
        """Return whether `labels` are complete; a foreign controller or kustomize may add some."""
        return not self.workload.is_foreign and not awaits_labels(self.workload)

    @property
    def revision_label(self) -> str:
        """Return the label that distinguishes the revisions of the pods; empty if there is none."""
        return revision_label(self.workload)

    def of_project(self, project: Project, number: int) -> Subject:
        """Return the workload as one of a project; an object of several roots is in several of them."""
        own = self.__class__.__new__(self.__class__)
        vars(own).update(vars(self), project=project, number=number)
        return own

    @property
    def target(self) -> TargetCluster:
        """Return the target cluster of the workload's file."""
        return self.project.target_of(self.manifest.source)

    @cached_property
    def area(self) -> Optional[Area]:
        """Return the area in which a search found the object; None if every object in its root counts for it."""
        return None if self.project.root is None else self.project.root.area(self.manifest)

    @property
    def facts(self) -> Optional[KnownCluster]:
        """Return the cluster facts, if there are any."""
        return self.project.facts

    @property
    def cluster(self) -> KnownCluster:
        """Return the cluster facts, for rules that run only with them."""
        return self.project.cluster

    @property
    def has_karpenter(self) -> bool:
        """Return whether Karpenter may add nodes: the run or the cluster facts have NodePools, or a setting says so."""
        pools = (item.api_version for item in self.project.of_kind("NodePool"))
        is_known = self.target.autoscaler == "karpenter" or (self.facts is not None and self.facts.has_node_pools)
        return is_known or any(version.startswith("karpenter.sh/") for version in pools)

    @property
    def replicas(self) -> ReplicaRange:
        """Return the replicas: from the autoscaler, else from kustomizations, else from the manifest."""
        project = self.project
        return project.replicas_here(self) if project.scope is None else project.scope.replicas(self)

    @property
    def is_single(self) -> bool:
        """Return whether there is one pod or none, by the number in the manifest if an overlay may replace it."""
        return self.replicas.likely in (0, 1)

    @property
    def is_overlaid(self) -> bool:
        """Return whether overlays of kustomize may change the workload."""
        return self.project.root is not None and bool(self.project.root.chains_of(self.manifest))

    @property
    def patched_keys(self) -> set[str]:
        """Return the topology keys of constraints that patches of the run add to the workload."""
        patches = () if self.project.scope is None else self.project.scope.patches.joined
        changing = (patch for patch, bases in patches if any(base.manifest is self.manifest for base in bases))
        return {constraint.topology_key for patch in changing for constraint in patch.constraints}

    def matching(self, selector: Selector) -> list[Subject]:
        """Return the workloads of the same namespace whose pods a selector matches, in order."""
        return self.project.group(selector, self.workload.namespace).members

    def neighbours(self, constraint: TopologySpreadConstraint) -> Neighbours:
        """Return those of the workloads whose pods a constraint selects that count for this one."""
        return self.project.around(self.selector(constraint), self.workload.namespace).of(self)

    def group_size(self, constraint: TopologySpreadConstraint) -> Optional[int]:
        """Return how many pods a constraint counts at most, those of other workloads included; None if unknown.

        A workload that the API server refuses has no pods. This one counts even so, as it will be fixed.
        """
        return self._size(constraint, "maximum")

    def likely_group_size(self, constraint: TopologySpreadConstraint) -> Optional[int]:
        """Return the size of a group by the numbers in the manifests, where overlays may replace these."""
        return self._size(constraint, "likely")

    def _size(self, constraint: TopologySpreadConstraint, number: str) -> Optional[int]:
        """Return the sum of one of the numbers of `ReplicaRange`."""
        selector = self.selector(constraint)
        size = self.project.members_size(selector, self.workload.namespace, number)
        if size is None or not (self.refusals and selector.matches(self.labels)):
            return size
        own: Optional[int] = getattr(self.replicas, number)
        return None if own is None else size + own

    def with_runner(self, runner: Manifest) -> Subject:
        """Return the pods of an object that takes its template from this one."""
        written = self.workload
        owner = workload(runner.plain, runner.kind, namespace=written.namespace)
        owner = owner._replace(template=written.template, selector=written.selector)
        found = Subject(self.manifest, owner, PodPlace(self.template_route, self.spec_route), self.refusals)
        found.runner = runner
        return found

    @cached_property
    def words(self) -> frozenset[str]:
        """Return the kind, the names of the fields of controller, pod and constraints, the actions and keys of these.

        See `RuleMeta.needs`.
        """
        names = {self.kind, *self.controller, *self.spec}
        for entry in self.spec.get(FIELD) or ():
            names.update(entry or ())
        for constraint in self.constraints:
            names.update((constraint.topology_key, constraint.when_unsatisfiable))
        return frozenset(names)

    @property
    def is_recreated(self) -> bool:
        """Return whether an update stops all pods of the old revision before it makes those of the new one."""
        return fields(self.controller, "strategy").get("type") == "Recreate"

    @property
    def maker(self) -> str:
        """Return the key of the controller that made the object; empty if none did."""
        if not self.is_owned:
            return ""
        from kubectl_spread.objects.reading import read  # few manifests have owners

        made_by = read.controller(self.manifest.plain["metadata"])
        return "" if made_by is None else f"{made_by.kind} {self.workload.namespace}/{made_by.name}"

    @cached_property
    def is_owned(self) -> bool:
        """Return whether another object made it: a ReplicaSet of a Deployment, a pod of either."""
        return bool(fields(self.manifest.plain, "metadata").get("ownerReferences"))

    @property
    def hard(self) -> tuple[TopologySpreadConstraint, ...]:
        """Return the constraints that are DoNotSchedule."""
        return tuple(constraint for constraint in self.constraints if constraint.is_hard)

    @property
    def soft(self) -> tuple[TopologySpreadConstraint, ...]:
        """Return the constraints that are ScheduleAnyway."""
        return tuple(item for item in self.constraints if item.when_unsatisfiable == "ScheduleAnyway")

    def selector(self, constraint: TopologySpreadConstraint) -> Selector:
        """Return a constraint's effective selector: labelSelector, and matchLabelKeys with a pod's own values.

        A key that the pod does not have is left out, as the scheduler does.
        """
        return self._selectors[constraint.position]

    def may_count(self, constraint: TopologySpreadConstraint) -> bool:
        """Return whether a constraint counts the workload's own pods, by the labels in the file."""
        if self.has_pod and self.has_known_labels:
            return self.is_in_its_group(constraint)
        required = self.selector(constraint).requirements or ()
        return bool(required) and not any(map(self.doubt, required))

    def is_in_its_group(self, constraint: TopologySpreadConstraint) -> bool:
        """Return whether a constraint counts the workload's own pods together.

        Otherwise SPR201, SPR202, SPR203 or SPR208 reports the reason.
        """
        return self._in_group[constraint.position]

    @property
    def in_group(self) -> list[TopologySpreadConstraint]:
        """Return the constraints that count the workload's own pods together."""
        return [constraint for constraint in self.constraints if self.is_in_its_group(constraint)]

    @property
    def hard_in_group(self) -> list[TopologySpreadConstraint]:
        """Return those of them that are DoNotSchedule."""
        return [constraint for constraint in self.in_group if constraint.is_hard]

    @cached_property
    def _in_group(self) -> list[bool]:
        return [
            bool(selector.requirements)
            and selector.matches(self.labels)
            and not any(key in PER_POD_LABELS and key in self.labels for key in constraint.match_label_keys)
            for constraint, selector in zip(self._written, self._selectors, strict=True)
        ]

    @cached_property
    def _selectors(self) -> list[Selector]:
        """Return the effective selectors by the position of their constraint."""
        found = []
        for constraint in self._written:
            keys = [key for key in constraint.match_label_keys if key in self.labels]
            selector = _compiled(constraint.label_selector)
            equalities = (LabelRequirement(key, "In", (self.labels[key],)) for key in keys)
            found.append(selector.plus(*equalities) if keys else selector)
        return found

    @cached_property
    def own_labels(self) -> dict[str, str]:
        """Return the labels that identify the workload's pods, from its selector or else from its template."""
        own = self.controller.get("selector")
        labels = own.get("matchLabels") if isinstance(own, dict) else None
        if isinstance(labels, dict) and labels:
            return {key: str(value) for key, value in labels.items()}
        changing = (*REVISION_LABELS, *RELEASE_LABELS)
        return {key: value for key, value in self.template_labels.items() if key not in changing}

    def selector_hint(self) -> str:
        """Return the selector that would count the workload's own pods.

        Without labels of their own, that is a label that the controller sets, or else one that is to be added.
        """
        own = self.own_labels
        label = {**NAMED_BY_LABEL, "Job": "batch.kubernetes.io/job-name"}.get(self.kind)
        if not own and label is not None and "name" in fields(self.manifest.plain, "metadata"):
            own = {label: self.workload.name}  # the controller gives it to all its pods
        written = scalars.pairs(sorted(own.items())[:_HINTED])
        if own:
            return f"select the workload's own pods: labelSelector: {{matchLabels: {{{written}}}}}"
        where = path_text((*self.template_route, "metadata", "labels"))
        added = f"app: {self.workload.name or 'NAME'}"
        return f"the pods have no label to select: add one in {where}, and select it: matchLabels: {{{added}}}"

    def route(self, constraint: TopologySpreadConstraint, *steps: str | int) -> Route:
        """Return the route of a constraint, or of something in it."""
        return self.at(constraint.position, steps)

    @property
    def list_route(self) -> Route:
        """Return the route of the list of constraints in the pod spec."""
        return (*self.spec_route, FIELD)

    def related(self, text: str, *routes: Route, key: bool = False) -> tuple[Label, ...]:
        """Return a label for each of some places, or for their keys."""
        return tuple(Label(self.place(route, key=key), text) for route in routes)

    def at(self, position: int, steps: Route) -> Route:
        """Return the route of something in the constraint at a position."""
        return (*self.list_route, position, *steps)

    def place(self, route: Route, *, key: bool = False) -> Place:
        """Return the place of a value, or of its key; for a missing value, the place where it would be."""
        return self.manifest.place(route, key=key)

    def node(self, route: Route) -> Optional[Node]:
        """Return the text's node at a route; None if the field is missing."""
        return self.manifest.document.follow((*self.manifest.route, *route))

    def path(self, route: Route) -> str:
        """Return a route as the API server prints it."""
        return path_text(route)


def is_live(manifest: Manifest) -> bool:
    """Return whether the object was read from a cluster, where its pod may have been bound."""
    return bool(manifest.plain.get("status") or fields(manifest.plain, "metadata").get("uid"))
