"""The kinds that carry pod templates: their places, and kubectl's names of the kinds.

Kinds of Kubernetes, of widespread controllers, and of the configuration (`PodSpecPath`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple, Optional

from kubectl_spread.containers import grouped
from kubectl_spread.objects.reading.plain import Plain, rows
from kubectl_spread.text.node import Route

EVERY = "[*]"  # a step of a route that means every item of a list
EACH = "*"  # and one for every item of a list, or every value of a mapping


class PodPlace(NamedTuple):
    """The place of one pod in an object: the route to its `metadata` and `spec`, and the route to the pod spec itself.

    Both are the same route if the object has a pod spec without a template around it.
    """

    template: Route
    spec: Route


class PodSpecPath(NamedTuple):
    """A kind from the configuration.

    `path` leads from its root to a pod template: `spec.template` or `spec.pools[*].template`.

    Args:
        kind: as manifests write it.
        path: with dots; `[*]` after a list means every item, `*` every item or every value of a mapping.
        group: of the apiVersion; None for any, "" for v1.
        is_spec: the path leads to a pod spec, which has no labels of its own.
    """

    kind: str
    path: str
    group: Optional[str] = None
    is_spec: bool = False


class WorkloadKind(NamedTuple):
    """The places of pod templates in a kind.

    `templates` lead to mappings with the `metadata` and `spec` of a pod; () for a Pod itself.
    `pod_specs` lead to pod specs without a template around them.
    `has_fixed_place`: the API server knows its one template, so the template cannot be absent.
    `is_foreign`: the number of its pods, and the fields that its controller adds to them, are unknown.
    No groups means any.
    """

    kind: str
    groups: frozenset[str]
    templates: tuple[Route, ...]
    names: tuple[str, ...]
    has_fixed_place: bool = True
    is_foreign: bool = False
    pod_specs: tuple[Route, ...] = ()

    def places(self, plain: Plain) -> list[PodPlace]:
        """Return the places of an object's pods. For kinds without a fixed place, return only the places that exist."""
        if self.has_fixed_place:
            return [_place(template) for template in self.templates]
        templates = (route for template in self.templates for route in _expanded(plain, template, ()))
        specs = (route for spec in self.pod_specs for route in _expanded(plain, spec, ()))
        return [*map(_place, templates), *(PodPlace(route, route) for route in specs)]

    def usual_place(self) -> PodPlace:
        """Return where the pod belongs, even if the object has none; `[*]` for an item of a list."""
        return _place(self.templates[0]) if self.templates else PodPlace(self.pod_specs[0], self.pod_specs[0])


def _place(template: Route) -> PodPlace:
    return PodPlace(template, (*template, "spec"))


def _expanded(plain: Any, route: Route, passed: Route) -> Iterable[Route]:
    """Return the routes that a route with `[*]` matches."""
    if not route:
        return [passed] if isinstance(plain, dict) else []
    step, *rest = route
    if step == EACH and isinstance(plain, dict):
        return [one for key, item in plain.items() for one in _expanded(item, tuple(rest), (*passed, key))]
    if step in (EVERY, EACH):
        items = plain if isinstance(plain, list) else []
        return [one for at, item in enumerate(items) for one in _expanded(item, tuple(rest), (*passed, at))]
    return _expanded(plain.get(step), tuple(rest), (*passed, step)) if isinstance(plain, dict) else []


class Kinds:
    """The kinds of a run, its own kinds first."""

    def __init__(self, entries: Iterable[WorkloadKind]) -> None:
        self._by_kind = grouped((entry.kind, entry) for entry in entries)
        self._common = self._by_kind.keys() - set(_NAMES_OF_OTHERS)
        self._rare = [
            (kind, group)
            for kind in _NAMES_OF_OTHERS
            for entry in self._by_kind.get(kind, ())
            for group in entry.groups or ("",)
        ]

    def of(self, kind: str, api_version: str) -> Optional[WorkloadKind]:
        """Return the entry of a kind; None for a kind without a known pod template."""
        group = api_version.partition("/")[0] if "/" in api_version else ""
        for entry in self._by_kind.get(kind, ()):
            if not entry.groups or group in entry.groups:
                return entry
        return None

    def may_be_in(self, text: str) -> bool:
        """Return whether a text may hold a kind with a pod template, or a list that may hold one.

        A kind whose name another group uses everywhere, as Service, has its group in the text, too.
        """
        at = text.find("kind: ")
        if at >= 0 and text[at + 6 : at + 72].partition("\n")[0].rstrip() in self._common:
            return True  # perf: most files; no pattern is compiled
        if any(word in self._common or word.endswith("List") for word in re.findall(_KIND, text)):
            return True
        return any(
            group in text and re.search(rf"""["']?kind["']?\s*:\s*["']?{kind}\b""", text) is not None
            for kind, group in self._rare
        )


_KIND = r"""kind["']?\s*:\s*(?:[&!]\S+\s+)?["']?(?=(\w+))"""  # compiled on first use
_NAMES_OF_OTHERS = ("Service", "ConfigMap", "Secret", "Ingress", "Role", "Namespace")


def _route(path: str) -> Route:
    """Return the steps of a path: `spec.pools[*].template`."""
    return tuple(step for step in path.replace("[]", EVERY).replace("[", ".[").split(".") if step)


def _known(head: str, body: str) -> WorkloadKind:
    marked, *names = head.split()
    kind = marked.rstrip("+-")
    groups, *paths = body.split()
    return WorkloadKind(
        kind,
        frozenset("" if group == "core" else group for group in groups.split(",")),
        tuple(map(_route, paths)) or ((),),
        tuple(names) if kind == "Service" else (kind.lower(), f"{kind.lower()}s", *names),
        has_fixed_place=kind == marked,
        is_foreign=marked.endswith("-"),
    )


# Kinds with kubectl's short names, their groups, and the places of their pod templates. `+` marks a kind of a
# CustomResourceDefinition with a known controller, `-` one whose operator adds labels of its own to the pods: their
# templates can be absent. (`service` is a Service of the core.)
KINDS: dict[str, WorkloadKind] = {
    entry.kind: entry
    for entry in (
        _known(head, body)
        for head, body in rows(
            """\
Pod po: core
PodTemplate: core template
ReplicationController rc: core spec.template
ReplicaSet rs: apps,extensions spec.template
Deployment deploy: apps,extensions spec.template
StatefulSet sts asts: apps,extensions,apps.kruise.io spec.template
DaemonSet ds: apps,extensions,apps.kruise.io spec.template
Job: batch spec.template
CronJob cj: batch spec.jobTemplate.spec.template
Rollout+ ro: argoproj.io spec.template
Service+ kservice kservices ksvc: serving.knative.dev spec.template
DeploymentConfig+ dc: apps.openshift.io spec.template
CloneSet+ clone: apps.kruise.io spec.template
LeaderWorkerSet+ lws: leaderworkerset.x-k8s.io spec.leaderWorkerTemplate.workerTemplate
  spec.leaderWorkerTemplate.leaderTemplate
JobSet-: jobset.x-k8s.io spec.replicatedJobs[*].template.spec.template
RayCluster-: ray.io spec.headGroupSpec.template spec.workerGroupSpecs[*].template
Elasticsearch-: elasticsearch.k8s.elastic.co spec.nodeSets[*].podTemplate
Kibana-: kibana.k8s.elastic.co spec.podTemplate
"""
        )
    )
}

BUILT_IN = Kinds(KINDS.values())


def with_paths(paths: Iterable[PodSpecPath]) -> Kinds:
    """Return the known kinds and the kinds of the configuration, which take precedence for the same kind and group."""
    by_kind = grouped(((path.kind, path.group), path) for path in paths)
    configured = (
        WorkloadKind(
            kind,
            frozenset() if group is None else frozenset({group}),
            tuple(_route(path.path) for path in given if not path.is_spec),
            (),
            has_fixed_place=False,
            is_foreign=True,
            pod_specs=tuple(_route(path.path) for path in given if path.is_spec),
        )
        for (kind, group), given in by_kind.items()
    )
    return Kinds((*configured, *KINDS.values()))


def leads_to(path: PodSpecPath, plain: Plain) -> bool:
    """Return whether a path that a run names leads to anything in an object."""
    return bool(list(_expanded(plain, _route(path.path), ())))


def find_kind(name: str) -> Optional[str]:
    """Return the kind of a kubectl resource argument: `deploy`, `services.serving.knative.dev`."""
    word, _, group = name.lower().partition(".")
    for kind, entry in KINDS.items():
        is_spelt_out = word.removesuffix("s") == kind.lower() and any(
            group.endswith(known or "-") for known in entry.groups
        )
        if word in entry.names or is_spelt_out:
            return kind
    return None
