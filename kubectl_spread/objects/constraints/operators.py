"""Places of constraints outside a whole pod spec, in the kinds of well-known operators.

A path leads to the mapping that holds the list; `*` is any key of a mapping and any item of a list. `as_written`
says that the operator copies a constraint without a labelSelector as it is, so that it counts no pods; others add a
selector. An operator that `fills_in` adds every field but topologyKey.

Source: the Go types of rook/rook, VictoriaMetrics/operator, prometheus-operator/prometheus-operator,
strimzi/strimzi-kafka-operator, cloudnative-pg/cloudnative-pg, tektoncd/operator, tektoncd/pipeline, envoyproxy/gateway,
CrunchyData/postgres-operator, zalando/postgres-operator, elastic/cloud-on-k8s, Altinity/clickhouse-operator,
OT-CONTAINER-KIT/redis-operator and spotahome/redis-operator.
"""

from __future__ import annotations

from typing import NamedTuple, Optional

from kubectl_spread.text.node import Route


class OperatorKind(NamedTuple):
    """The kinds of one operator that hold constraints at the same paths."""

    group: str
    kinds: tuple[str, ...]
    paths: tuple[str, ...]
    as_written: bool = False
    fills_in: bool = False


_OF_A_POD = ("spec.template.pod",)
_OPTIONS = ("options.deployments.*.spec.template.spec", "options.statefulSets.*.spec.template.spec")
_OPSTREE = "redis.redis.opstreelabs.in"
_VM = "operator.victoriametrics.com"
_VM_BALANCER = "spec.requestsLoadBalancer.spec"

OPERATORS = (
    OperatorKind(
        "ceph.rook.io",
        ("CephCluster",),
        (
            "spec.placement.*",
            "spec.storage.storageClassDeviceSets.*.placement",
            "spec.storage.storageClassDeviceSets.*.preparePlacement",
        ),
    ),
    OperatorKind("ceph.rook.io", ("CephFilesystem",), ("spec.metadataServer.placement",)),
    OperatorKind("ceph.rook.io", ("CephObjectStore",), ("spec.gateway.placement",)),
    OperatorKind("ceph.rook.io", ("CephNFS",), ("spec.server.placement",)),
    OperatorKind(
        "ceph.rook.io",
        ("CephRBDMirror", "CephFilesystemMirror", "CephCOSIDriver", "CephNVMeOFGateway"),
        ("spec.placement",),
    ),
    OperatorKind(
        _VM, ("VMCluster",), ("spec.vmselect", "spec.vminsert", "spec.vmstorage", "spec.requestsLoadBalancer.spec")
    ),
    OperatorKind(
        _VM, ("VLCluster",), ("spec.vlselect", "spec.vlinsert", "spec.vlstorage", "spec.requestsLoadBalancer.spec")
    ),
    OperatorKind(_VM, ("VTCluster",), ("spec.select", "spec.insert", "spec.storage", "spec.requestsLoadBalancer.spec")),
    OperatorKind(
        _VM,
        (
            *("VMAgent", "VMAlert", "VMAlertmanager", "VMAnomaly", "VMAuth", "VMSingle"),
            *("VLAgent", "VLSingle", "VLogs", "VTSingle"),
        ),
        ("spec",),
    ),
    OperatorKind(
        "monitoring.coreos.com", ("Prometheus", "PrometheusAgent", "Alertmanager", "ThanosRuler"), ("spec",), True
    ),
    OperatorKind(
        "kafka.strimzi.io",
        ("Kafka",),
        tuple(
            f"spec.{part}.template.pod"
            for part in ("kafka", "zookeeper", "entityOperator", "kafkaExporter", "cruiseControl", "jmxTrans")
        ),
        True,
    ),
    OperatorKind(
        "kafka.strimzi.io",
        ("KafkaNodePool", "KafkaConnect", "KafkaBridge", "KafkaMirrorMaker", "KafkaMirrorMaker2"),
        _OF_A_POD,
        True,
    ),
    OperatorKind("kafka.strimzi.io", ("KafkaConnect", "KafkaMirrorMaker2"), ("spec.template.buildPod",), True),
    OperatorKind("postgresql.cnpg.io", ("Cluster",), ("spec",), True),
    OperatorKind("operator.tekton.dev", ("TektonConfig",), tuple(f"spec.*.{path}" for path in _OPTIONS), True),
    OperatorKind(
        "operator.tekton.dev",
        tuple(
            f"Tekton{name}"
            for name in ("Pipeline", "Trigger", "Dashboard", "Chain", "Result", "Hub", "Pruner", "Scheduler")
        ),
        tuple(f"spec.{path}" for path in _OPTIONS),
        True,
    ),
    OperatorKind("tekton.dev", ("TaskRun",), ("spec.podTemplate",), True),
    OperatorKind(
        "tekton.dev",
        ("PipelineRun",),
        (
            "spec.podTemplate",
            "spec.taskRunTemplate.podTemplate",
            "spec.taskRunSpecs.*.podTemplate",
            "spec.taskRunSpecs.*.taskPodTemplate",
        ),
        True,
    ),
    OperatorKind(
        "gateway.envoyproxy.io",
        ("EnvoyProxy",),
        ("spec.provider.kubernetes.envoyDeployment.pod", "spec.provider.kubernetes.envoyDaemonSet.pod"),
        True,
    ),
    OperatorKind("gateway.envoyproxy.io", ("EnvoyGateway",), ("provider.kubernetes.rateLimitDeployment.pod",), True),
    OperatorKind(
        "postgres-operator.crunchydata.com",
        ("PostgresCluster",),
        (
            "spec.instances.*",
            "spec.proxy.pgBouncer",
            "spec.backups.pgbackrest.repoHost",
            "spec.userInterface.pgAdmin",
        ),
        True,
    ),
    OperatorKind(
        "pingcap.com",
        ("TidbCluster",),
        ("spec", *(f"spec.{part}" for part in ("pd", "tidb", "tikv", "tiflash", "ticdc", "tiproxy", "pump"))),
        fills_in=True,
    ),
    OperatorKind("postgresql.cnpg.io", ("Pooler",), ("spec.template.spec",), True),
    OperatorKind("acid.zalan.do", ("postgresql",), ("spec",)),
    *(
        OperatorKind(f"{name.lower()}.k8s.elastic.co", (kind,), ("spec.podTemplate.spec",), True)
        for name, kind in (
            ("apm", "ApmServer"),
            ("enterprisesearch", "EnterpriseSearch"),
            ("maps", "ElasticMapsServer"),
            ("logstash", "Logstash"),
        )
    ),
    OperatorKind(
        "beat.k8s.elastic.co", ("Beat",), ("spec.deployment.podTemplate.spec", "spec.daemonSet.podTemplate.spec"), True
    ),
    OperatorKind(
        "agent.k8s.elastic.co",
        ("Agent",),
        tuple(f"spec.{part}.podTemplate.spec" for part in ("deployment", "daemonSet", "statefulSet")),
        True,
    ),
    OperatorKind(
        "clickhouse.altinity.com",
        ("ClickHouseInstallation", "ClickHouseInstallationTemplate"),
        ("spec.templates.podTemplates.*.spec",),
        True,
    ),
    OperatorKind(
        "clickhouse-keeper.altinity.com",
        ("ClickHouseKeeperInstallation",),
        ("spec.templates.podTemplates.*.spec",),
        True,
    ),
    OperatorKind(_OPSTREE, ("Redis", "RedisSentinel"), ("spec",), True),
    OperatorKind(_OPSTREE, ("RedisReplication",), ("spec", "spec.sentinel"), True),
    OperatorKind(_OPSTREE, ("RedisCluster",), ("spec.redisLeader", "spec.redisFollower"), True),
    OperatorKind("databases.spotahome.com", ("RedisFailover",), ("spec.redis", "spec.sentinel"), True),
)


def operator_of(kind: str, api_version: str, route: Route) -> Optional[OperatorKind]:
    """Return the operator that reads a list of constraints at a route of one of its objects; None if none does."""
    group = api_version.partition("/")[0]
    for operator in OPERATORS:
        if operator.group == group and kind in operator.kinds:
            holder = tuple(map(str, route[:-1]))
            if any(_leads_to(tuple(path.split(".")), holder) for path in operator.paths):
                return operator
    return None


def _leads_to(path: tuple[str, ...], route: tuple[str, ...]) -> bool:
    return len(path) == len(route) and all(step in ("*", taken) for step, taken in zip(path, route, strict=True))
