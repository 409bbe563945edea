"""Constraints outside the pod specs of known kinds: in values, patches and custom resources.

The pods of these constraints are unknown. The search yields four things:

- a list under a key that ends in `topologySpreadConstraints`, at any depth;
- the `value` of a JSON patch (RFC 6902) whose `path` leads to this list, to one entry, or to a field of an entry;
- an object of a known kind inside another one (`spec.patch`, Ansible's `definition:`);
- a text that names the key: it may be YAML itself.

Places of constraints outside a whole pod spec, in the kinds of well-known operators.

A path leads to the mapping that holds the list; `*` is any key of a mapping and any item of a list. `as_written`
says that the operator copies a constraint without a labelSelector as it is, so that it counts no pods; others add a
selector. An operator that `fills_in` adds every field but topologyKey.

Source: the Go types of rook/rook, VictoriaMetrics/operator, prometheus-operator/prometheus-operator,
strimzi/strimzi-kafka-operator, cloudnative-pg/cloudnative-pg, tektoncd/operator, tektoncd/pipeline, envoyproxy/gateway,
CrunchyData/postgres-operator, zalando/postgres-operator, elastic/cloud-on-k8s, Altinity/clickhouse-operator,
OT-CONTAINER-KIT/redis-operator, spotahome/redis-operator and dragonflydb/dragonfly-operator.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Optional, Union

from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import Plain, rows
from kubectl_spread.text.node import Route

FIELDS = ("maxSkew", "topologyKey", "whenUnsatisfiable")
_NAME = "topologyspreadconstraints"
_IN_TEXT = "opologySpreadConstraints"  # a chart may have a word of its own before it
# Compiled on first use.
_FIELD = "|".join(FIELDS)
_COMMENT = r"[ \t]*#"
_KYVERNO = r"[-+^=X<]*\((.*)\)"  # its anchors around a key: `+(name)`, `<(name)`
_NOT_APPLIED = frozenset({"metadata", "status"})  # fields of an object that controllers and tools write
# Fields of Kyverno's policies: patterns to compare an object with, and patches to merge into it.
_PATTERNS = frozenset({"pattern", "anyPattern", "preconditions", "deny"})
_MERGED = frozenset({"patchStrategicMerge", "patchesStrategicMerge"})
_SCHEMAS = frozenset({"CustomResourceDefinition", "CustomResourceDefinitionList"})
_PATCHING = ("add", "replace")


class ConstraintList(NamedTuple):
    """A list of constraints, or a part of one.

    Args:
        route: of the list or part, from the value that was searched.
        entries: the plain constraints. Entries that are not mappings are kept, so that positions stay right.
        routes: of each entry.
        path: of the list in its object, as the API server prints it.
        labels: the text that the API server prints between brackets for each entry: its index, or `-` if it is
            appended.
        depth: the number of steps from the only entry down to the value of a JSON patch; 0 if it is the entry itself.
        is_patch: whether it is the value of a JSON patch, which replaces the earlier value.
        is_merged: whether it is part of a strategic merge patch, so that its base may hold the missing fields.
    """

    route: Route
    entries: list[Any]
    routes: tuple[Route, ...]
    path: str
    labels: tuple[str, ...]
    depth: int = 0
    is_patch: bool = False
    is_merged: bool = False

    @property
    def is_complete(self) -> bool:
        """Return whether each entry has all the fields that it will have."""
        return not self.depth and not self.is_merged

    def route_of(self, position: int, steps: Route) -> Route:
        """Return the route of a field in an entry; fields that a patch does not replace get the patch's own route."""
        return (*self.routes[position], *steps[self.depth :])

    def path_of(self, position: int, steps: Route) -> str:
        """Return the path of something in an entry, as the API server prints it."""
        below = decode.path_text(steps)
        return f"{self.path}[{self.labels[position]}]{'.' if below else ''}{below}"


class NestedObject(NamedTuple):
    """An object of a known kind inside another one."""

    route: Route
    plain: Plain


class NestedText(NamedTuple):
    """A text that may be YAML with constraints in it."""

    route: Route
    text: str


Found = Union[ConstraintList, NestedObject, NestedText]


def may_hold(text: str) -> bool:
    """Return whether a text may hold constraints outside comments: it names the list, and a field of an entry."""
    if _IN_TEXT not in text:
        return False
    comment = re.compile(_COMMENT)
    return (
        any(comment.match(text, text.rfind("\n", 0, match.start()) + 1) is None for match in re.finditer(_FIELD, text))
        or re.search(r"opologySpreadConstraints/", text) is not None
    )


def names_a_list(text: str) -> bool:
    """Return whether a text has a line that YAML would read as the key of a list of constraints."""
    return re.search(r"(?m)^[ \t-]*[\"']?\w*opologySpreadConstraints[\"']?[ \t]*:", text) is not None


def is_suite(plain: Any) -> bool:
    """Return whether a value is a suite of helm-unittest, which is never applied to a cluster."""
    return (
        isinstance(plain, dict) and isinstance(plain.get("tests"), list) and ("suite" in plain or "templates" in plain)
    )


def search(value: Any, is_known: Callable[[str, str], bool], route: Route = ()) -> Iterator[Found]:
    """Yield the constraints, nested objects and texts in a value, at any depth, in the order of the document.

    Args:
        value: a document, or an object of one.
        is_known: returns whether the pod template of a kind is known; gets the kind and the apiVersion of a nested
            object.
        route: of the value.
    """
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from search(item, is_known, (*route, index))
    # Not a word or prose.
    elif isinstance(value, str) and ("\n" in value or value.lstrip().startswith(("{", "["))) and may_hold(value):
        yield NestedText(route, value)
    if not isinstance(value, dict) or is_suite(value):
        return
    kind, version = value.get("kind"), value.get("apiVersion")
    is_object = isinstance(kind, str) and isinstance(version, str)
    if is_object and kind in _SCHEMAS:
        return
    if is_object and route and is_known(str(kind), str(version)):
        yield NestedObject(route, value)
        return
    if "op" in value and isinstance(value.get("path"), str):
        yield from _operation(value, is_known, (*route, "value"))
        return
    for key, item in value.items():
        at = (*route, key)
        if (is_object and key in _NOT_APPLIED) or key in _PATTERNS:
            continue
        if not (_is_name(key) and isinstance(item, list)):
            yield from search(item, is_known, at)
        elif _are_constraints(item):
            yield _listed(item, at)._replace(is_merged=not _MERGED.isdisjoint(at))


def _operation(operation: Plain, is_known: Callable[[str, str], bool], at: Route) -> Iterator[Found]:
    """Yield the constraints that an operation of a JSON patch adds or replaces; `at`: the route of its value."""
    if operation["op"] not in _PATCHING or "value" not in operation:
        return
    value = operation["value"]
    steps = [step.replace("~1", "/").replace("~0", "~") for step in operation["path"].split("/")[1:]]
    last = next((index for index, step in enumerate(steps) if _is_name(step)), -1)
    if last < 0:
        yield from search(value, is_known, at)
        return
    path, rest = decode.path_text(tuple(steps[: last + 1])), steps[last + 1 :]
    if not rest:
        if isinstance(value, list) and _are_constraints(value):
            yield _listed(value, at)._replace(path=path, is_patch=True)
        return
    if len(rest) == 1 and isinstance(value, dict):
        yield ConstraintList(at, [value], (at,), path, (rest[0],), is_patch=True)
    elif len(rest) > 1:
        for step in reversed(rest[1:]):
            value = {step: value}
        yield ConstraintList(at, [value], (at,), path, (rest[0],), len(rest) - 1, is_patch=True)


def _listed(entries: list[Any], route: Route) -> ConstraintList:
    positions = range(len(entries))
    routes = tuple((*route, index) for index in positions)
    return ConstraintList(route, entries, routes, decode.path_text(route), tuple(map(str, positions)))


def _is_name(key: str) -> bool:
    if not key.lower().endswith((_NAME, f"{_NAME})")):
        return False
    anchored = re.fullmatch(_KYVERNO, key)
    return anchored is None or anchored[1].lower().endswith(_NAME)


def _are_constraints(value: list[Any]) -> bool:
    """Return whether a list holds constraints, not a schema or a template of one."""
    return any(isinstance(item, dict) and any(name in item for name in FIELDS) for item in value)


class OperatorKind(NamedTuple):
    """The kinds of one operator that hold constraints at the same paths."""

    group: str
    kinds: tuple[str, ...]
    paths: tuple[str, ...]
    as_written: bool = False
    fills_in: bool = False


# `=` after a group marks `as_written`, `+` marks `fills_in`.
OPERATORS = tuple(
    OperatorKind(group.rstrip("=+"), tuple(kinds), tuple(paths.split()), group.endswith("="), group.endswith("+"))
    for (group, *kinds), paths in (
        (head.split(), paths)
        for head, paths in rows(
            """\
ceph.rook.io CephCluster: spec.placement.* spec.storage.storageClassDeviceSets.*.placement
  spec.storage.storageClassDeviceSets.*.preparePlacement
ceph.rook.io CephFilesystem: spec.metadataServer.placement
ceph.rook.io CephObjectStore: spec.gateway.placement
ceph.rook.io CephNFS: spec.server.placement
ceph.rook.io CephRBDMirror CephFilesystemMirror CephCOSIDriver CephNVMeOFGateway: spec.placement
operator.victoriametrics.com VMCluster: spec.vmselect spec.vminsert spec.vmstorage spec.requestsLoadBalancer.spec
operator.victoriametrics.com VLCluster: spec.vlselect spec.vlinsert spec.vlstorage spec.requestsLoadBalancer.spec
operator.victoriametrics.com VTCluster: spec.select spec.insert spec.storage spec.requestsLoadBalancer.spec
operator.victoriametrics.com VMAgent VMAlert VMAlertmanager VMAnomaly VMAuth VMSingle VLAgent VLSingle VLogs VTSingle:
  spec
monitoring.coreos.com= Prometheus PrometheusAgent Alertmanager ThanosRuler: spec
kafka.strimzi.io= Kafka: spec.kafka.template.pod spec.zookeeper.template.pod spec.entityOperator.template.pod
  spec.kafkaExporter.template.pod spec.cruiseControl.template.pod spec.jmxTrans.template.pod
kafka.strimzi.io= KafkaNodePool KafkaConnect KafkaBridge KafkaMirrorMaker KafkaMirrorMaker2: spec.template.pod
kafka.strimzi.io= KafkaConnect KafkaMirrorMaker2: spec.template.buildPod
postgresql.cnpg.io= Cluster: spec
operator.tekton.dev= TektonConfig: spec.*.options.deployments.*.spec.template.spec
  spec.*.options.statefulSets.*.spec.template.spec
operator.tekton.dev= TektonPipeline TektonTrigger TektonDashboard TektonChain TektonResult TektonHub
  TektonPruner TektonScheduler:
  spec.options.deployments.*.spec.template.spec spec.options.statefulSets.*.spec.template.spec
tekton.dev= TaskRun: spec.podTemplate
tekton.dev= PipelineRun: spec.podTemplate spec.taskRunTemplate.podTemplate spec.taskRunSpecs.*.podTemplate
  spec.taskRunSpecs.*.taskPodTemplate
gateway.envoyproxy.io= EnvoyProxy: spec.provider.kubernetes.envoyDeployment.pod
  spec.provider.kubernetes.envoyDaemonSet.pod
gateway.envoyproxy.io= EnvoyGateway: provider.kubernetes.rateLimitDeployment.pod
postgres-operator.crunchydata.com= PostgresCluster: spec.instances.* spec.proxy.pgBouncer
  spec.backups.pgbackrest.repoHost spec.userInterface.pgAdmin
pingcap.com+ TidbCluster: spec spec.pd spec.tidb spec.tikv spec.tiflash spec.ticdc spec.tiproxy spec.pump
postgresql.cnpg.io= Pooler: spec.template.spec
acid.zalan.do postgresql: spec
apm.k8s.elastic.co= ApmServer: spec.podTemplate.spec
enterprisesearch.k8s.elastic.co= EnterpriseSearch: spec.podTemplate.spec
maps.k8s.elastic.co= ElasticMapsServer: spec.podTemplate.spec
logstash.k8s.elastic.co= Logstash: spec.podTemplate.spec
beat.k8s.elastic.co= Beat: spec.deployment.podTemplate.spec spec.daemonSet.podTemplate.spec
agent.k8s.elastic.co= Agent: spec.deployment.podTemplate.spec spec.daemonSet.podTemplate.spec
  spec.statefulSet.podTemplate.spec
clickhouse.altinity.com= ClickHouseInstallation ClickHouseInstallationTemplate: spec.templates.podTemplates.*.spec
clickhouse-keeper.altinity.com= ClickHouseKeeperInstallation: spec.templates.podTemplates.*.spec
redis.redis.opstreelabs.in= Redis RedisSentinel: spec
redis.redis.opstreelabs.in= RedisReplication: spec spec.sentinel
redis.redis.opstreelabs.in= RedisCluster: spec.redisLeader spec.redisFollower
databases.spotahome.com= RedisFailover: spec.redis spec.sentinel
dragonflydb.io= Dragonfly: spec
"""
        )
    )
)


def operator_of(kind: str, api_version: str, route: Route) -> Optional[OperatorKind]:
    """Return the operator that reads a list of constraints at a route of one of its objects; None if none does."""
    group = api_version.partition("/")[0]
    for operator in OPERATORS:
        if operator.group == group and kind in operator.kinds:
            holder = tuple(map(str, route[:-1]))
            for path in (path.split(".") for path in operator.paths):
                steps = zip(path, holder, strict=False)
                if len(path) == len(holder) and all(step in ("*", taken) for step, taken in steps):
                    return operator
    return None
