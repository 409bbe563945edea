"""The cluster's objects as later commands find them, after earlier commands were accepted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Protocol, Union

from kubectl_spread.cluster.snapshot import Cluster, Controller, key_of, StoredRevision
from kubectl_spread.engine import steps
from kubectl_spread.errors import RefusedError
from kubectl_spread.kubectl.kinds import full_name, with_records
from kubectl_spread.kubectl.parsing import StepError
from kubectl_spread.objects import validation
from kubectl_spread.objects.constraints.constraint import constraints
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import fields, mappings, Plain
from kubectl_spread.objects.releases.behaviours import ELASTIC_INDEXED_JOB
from kubectl_spread.objects.releases.version import LATEST, Release
from kubectl_spread.objects.storage import claim
from kubectl_spread.objects.workloads.kinds import KINDS
from kubectl_spread.objects.workloads.workload import REVISION_LABEL_OF, SCALED_KINDS, template_hash, Workload, workload
from kubectl_spread.text.scalars import natural


class CommandReader(Protocol):
    """Reader of the files and texts of commands. It records an error in one object and continues with the others."""

    def objects(
        self, paths: tuple[str, ...], directories: tuple[str, ...], *, recursive: bool, namespace: str
    ) -> list[Plain]:
        """Return the decodable objects of manifests and kustomizations, each with its namespace."""
        ...

    def value(self, text: str, name: str) -> Any:
        """Return the value of a JSON or YAML text.

        Raises:
            SourceError: it is neither.
        """
        ...

    def value_of_file(self, path: str) -> Any:
        """Return the value of a JSON or YAML file.

        Raises:
            SourceError: it cannot be read, or is neither.
        """
        ...


# What a command yields: operations of the simulation, notes for the user about the command, workloads that it concerns
# although no operation names them, and kubectl's message if it stops halfway, as a drain that may not evict a pod.
Part = Union[steps.Op, str, ObjectKey, RefusedError]


class Situation:
    """The cluster as commands find it; its pods are the pods from the start.

    namespace: of the objects that the command names. default_namespace: for commands that name no namespace. release:
    of the API server.
    """

    def __init__(self, cluster: Cluster, read: CommandReader, namespace: str, release: Release = LATEST) -> None:
        self.cluster = cluster
        self.release = release
        self.namespace = self.default_namespace = namespace
        self.read = read
        self.applied: dict[ObjectKey, Plain] = {}  # the manifest that an earlier command applied last
        self.orphans: dict[ObjectKey, ObjectKey] = {}  # ReplicaSets, and the Deployments that were deleted without them
        self.unknown: set[ObjectKey] = set()  # workloads whose template is unknown by now

    def change(self, kind: str, changed: Mapping[ObjectKey, Any]) -> list[steps.Op]:
        """Add, replace or remove (None) objects without a pod template, and return the operations for it."""
        self.cluster = with_records(kind, self.cluster, changed)
        if kind != "Node":
            return [steps.ChangeFacts(self.cluster)]
        nodes = tuple(item for item in changed.values() if item is not None)
        removed = tuple(key.name for key, item in changed.items() if item is None)
        return [*([steps.ChangeNodes(nodes)] if nodes else ()), *([steps.DeleteNodes(removed)] if removed else ())]

    def workload_to_change(self, key: ObjectKey) -> Plain:
        """Return a workload that exists as an API object.

        Raises:
            RefusedError: its template is unknown, or another controller would revert a change.
        """
        if key in self.unknown:
            what = f"{full_name(key.kind)} {key.name} went back to is not in the cluster facts"
            raise RefusedError(f"error: the template that {what}")
        owner = self.cluster.owners.get(key)
        if owner is not None:
            what = f"{owner.kind} {owner.name} controls {key.kind} {key.name}, and would revert the change"
            raise RefusedError(f"error: {what}")
        return plain_workload(self.cluster.controllers[key])

    def put(self, plain: Plain, *, writes_replicas: bool = False) -> steps.Apply:
        """Add or change a workload, and return the operation for it; its status stays.

        `writes_replicas`: the command writes the number of replicas, also if it is the known one, which an autoscaler
        may have changed by then.

        Raises:
            RefusedError: the API server would refuse the workload.
        """
        controller = controller_of(plain)
        key = key_of(controller.workload)
        if not controller.workload.is_simulated:
            raise StepError(f"{full_name(key.kind)} {key.name}: {decode.too_many(controller.workload.replicas or 0)}")
        before = self.cluster.controllers.get(key)
        wrong = list(_invalid(controller, self.release))
        if before is not None:  # what is wrong already refuses no change of the rest
            known = set(_invalid(before, self.release))
            changes = immutable_changes(key.kind, before.spec, controller.spec, self.release)
            wrong = [*changes, *(text for text in wrong if text not in known)]
        if wrong:
            raise RefusedError(f'The {key.kind} "{key.name}" is invalid: {wrong[0]}')
        if before is not None:
            self._store_revision(key)
            is_same = controller.workload.template == before.workload.template
            controller = controller._replace(
                conditions=before.conditions, progress=before.progress, revision=before.revision if is_same else ""
            )
        self.cluster = self.cluster._replace(controllers={**self.cluster.controllers, key: controller})
        self._store_revision(key)
        is_equal = before is not None and before.workload.replicas == controller.workload.replicas
        return steps.Apply(controller, is_equal and not writes_replicas)

    def remove(self, key: ObjectKey, *, is_orphaning: bool = False) -> None:
        """Remove a workload, and its ReplicaSets unless they become orphans."""
        cluster = self.cluster
        self.orphans |= {made: key for made, owner in cluster.owners.items() if owner == key and is_orphaning}
        gone = {key, *(made for made, owner in cluster.owners.items() if owner == key and not is_orphaning)}
        self.cluster = cluster._replace(
            controllers={known: item for known, item in cluster.controllers.items() if known not in gone},
            owners={made: owner for made, owner in cluster.owners.items() if owner != key and made not in gone},
        )
        self.applied.pop(key, None)

    def settle(self) -> None:
        """Take each workload into the range of its autoscaler, which does so before the next command."""
        controllers = dict(self.cluster.controllers)
        for key, scaler in self.cluster.autoscalers.items():
            if key.kind in SCALED_KINDS and key in controllers:
                owner = controllers[key].workload
                replicas = scaler.nearest(owner.replicas or 0)
                controllers[key] = controllers[key]._replace(
                    workload=owner._replace(replicas=replicas), spec={**controllers[key].spec, "replicas": replicas}
                )
        self.cluster = self.cluster._replace(controllers=controllers)

    def history(self, key: ObjectKey) -> list[StoredRevision]:
        """Return the revisions of a workload by number, and its current template last.

        A template that the cluster facts lack is empty.
        """
        from kubectl_spread.engine.world import same_template  # numpy: 80 ms

        current = self.cluster.controllers[key].workload.template
        stored = [revision for _, revision in self._stored(key)]
        equal = [item for item in stored if same_template(item.template, current)]
        equal = equal or [item for item in stored[-1:] if not item.template.get("spec")]  # of shortened facts
        number = equal[-1].number if equal else max((item.number for item in stored), default=0) + 1
        return [*(item for item in stored if item not in equal), StoredRevision(number, current)]

    def _stored(self, key: ObjectKey) -> list[tuple[ObjectKey, StoredRevision]]:
        """Return the ReplicaSets of a Deployment, or the ControllerRevisions of another workload, the oldest first."""
        cluster = self.cluster
        if key in cluster.revisions:
            return [(key, item) for item in cluster.revisions[key]]
        sets = [
            (made, StoredRevision(natural(item.revision) or 0, item.workload.template))
            for made, owner in cluster.owners.items()
            if owner == key and (item := cluster.controllers.get(made)) is not None
        ]
        return sorted(sets, key=lambda item: (item[1].number, item[0].name))

    def _store_revision(self, key: ObjectKey) -> None:
        """Store the current template as the newest revision, as its controller does."""
        from kubectl_spread.engine.world import same_template  # numpy: 80 ms

        cluster = self.cluster
        current = cluster.controllers[key]
        if key.kind not in REVISION_LABEL_OF or current.spec.get("paused"):
            return
        stored = self._stored(key)
        template = current.workload.template
        if stored and same_template(stored[-1][1].template, template):
            return
        number = max((item.number for _, item in stored), default=0) + 1
        equal = [(made, item) for made, item in stored if same_template(item.template, template)]
        if key.kind != "Deployment":
            kept = [item for _, item in stored if all(item is not known for _, known in equal)]
            revisions = (*kept, StoredRevision(number, template))
            self.cluster = cluster._replace(revisions={**cluster.revisions, key: revisions})
            return
        made = (
            equal[-1][0] if equal else ObjectKey("ReplicaSet", key.namespace, f"{key.name}-{template_hash(template)}")
        )
        labels = fields(template, "metadata", "labels")
        new = Controller(current.workload._replace(kind="ReplicaSet", name=made.name, api_version=""), labels=labels)
        replica_set = cluster.controllers.get(made, new)._replace(revision=str(number))
        self.cluster = cluster._replace(
            controllers={**cluster.controllers, made: replica_set}, owners={**cluster.owners, made: key}
        )


def _invalid(controller: Controller, release: Release) -> Iterator[str]:
    """Yield what the API server says about an invalid workload."""
    owner, spec, root = controller.workload, controller.spec, "spec"
    if owner.is_foreign:
        return
    if owner.kind == "CronJob":
        spec, root = fields(spec, "jobTemplate", "spec"), "spec.jobTemplate.spec"
    for error in validation.spec_errors(owner.kind, spec, minor=release.minor):
        yield error.text(root)
    for error in validation.constraint_errors(constraints(owner.pod_spec), created_with=None, minor=release.minor):
        yield error.text(f"{root}.template.spec")


def controller_of(plain: Plain) -> Controller:
    """Return a workload from an API object that decodes."""
    metadata = fields(plain, "metadata")
    return Controller(
        workload(plain, str(plain["kind"])),
        spec=fields(plain, "spec"),
        labels=dict(fields(metadata, "labels")),
        annotations=dict(fields(metadata, "annotations")),
    )


_OF_JOBS = {  # with their defaults
    "completions": None,
    "completionMode": "NonIndexed",
    **dict.fromkeys(("podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy")),
}


def refused_changes(cluster: Cluster, workload: Workload, spec: Plain, release: Release) -> list[str]:
    """Return the API server's messages about a manifest's spec that changes a running workload; none if it is new."""
    running = cluster.controllers.get(key_of(workload))
    return [] if running is None else list(immutable_changes(workload.kind, running.spec, spec, release))


def immutable_changes(kind: str, before: Plain, after: Plain, release: Release) -> Iterator[str]:
    """Yield the API server's messages about changes of immutable fields.

    Source: pkg/apis/apps/validation/validation.go, ValidateStatefulSetUpdate; pkg/apis/batch/validation/validation.go,
    ValidateJobSpecUpdate (v1.36.2). Differences: whether a suspended Job has ever started is
    not known; facts without a selector do not refuse one.
    """
    has_selector = "selector" in before and fields(before, "selector") != fields(after, "selector")
    if kind == "StatefulSet":
        service = before.get("serviceName")
        kept = [
            (  # the fields of claims that manifests set
                [claim(item)._replace(uid="", is_new=False) for item in mappings(spec.get("volumeClaimTemplates"))],
                spec.get("podManagementPolicy") or "OrderedReady",
            )
            for spec in (before, after)
        ]
        if has_selector or kept[0] != kept[1] or (service and service != after.get("serviceName")):
            yield (
                "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', "
                "'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
                "'minReadySeconds' are forbidden"
            )
    elif has_selector and kind in ("Deployment", "ReplicaSet", "DaemonSet", "Job"):
        yield "spec.selector: Invalid value: field is immutable"
    if kind != "Job":
        return
    from kubectl_spread.engine.world import same_template  # numpy: 80 ms

    templates = [fields(spec, "template") for spec in (before, after)]
    if before.get("suspend"):  # Some fields of the pods may change then.
        specs = [fields(template, "spec") for template in templates]
        affinities = [{**fields(spec, "affinity"), "nodeAffinity": None} for spec in specs]
        templates = [
            {"spec": {**spec, "affinity": affinity, "nodeSelector": {}, "tolerations": [], "schedulingGates": []}}
            for spec, affinity in zip(specs, affinities, strict=True)
        ]
    if not same_template(*templates):
        yield "spec.template: Invalid value: field is immutable"
    may_grow = after.get("completionMode") == "Indexed" and ELASTIC_INDEXED_JOB.of(release)
    for field, default in _OF_JOBS.items():
        value, is_elastic = after.get(field, default), may_grow and field == "completions"
        if value != before.get(field, default) and not (is_elastic and value == after.get("parallelism", 1)):
            why = "can only be modified in tandem with spec.parallelism" if is_elastic else "field is immutable"
            yield f"spec.{field}: Invalid value: {json.dumps(value)}: {why}"


def plain_workload(controller: Controller) -> Plain:
    """Return a workload as an API object, with the fields that are in the cluster facts."""
    owner = controller.workload
    groups = KINDS[owner.kind].groups
    metadata: Plain = {"name": owner.name, "namespace": owner.namespace}
    metadata |= {"labels": dict(controller.labels)} if controller.labels else {}
    metadata |= {"annotations": dict(controller.annotations)} if controller.annotations else {}
    version = owner.api_version or (f"{min(groups)}/v1" if "" not in groups else "v1")
    return {"apiVersion": version, "kind": owner.kind, "metadata": metadata, "spec": controller.spec}
