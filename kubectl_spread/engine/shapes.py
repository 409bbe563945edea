"""Workloads that differ only in names, and so have equal outcomes in equal clusters.

Names, label values and template hashes of a workload are compared with each other and with nothing else. So they are
replaced by numbers, in the order of their appearance. What remains is equal for workloads of one shape:

    web-1: labels app=web-1, pod-template-hash=5d7; selector app=web-1     ──▶   app=0, pod-template-hash=1; app=0
    web-2: labels app=web-2, pod-template-hash=9fc; selector app=web-2     ──▶   the same
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Optional

from kubectl_spread.cluster.build import stored_workload
from kubectl_spread.cluster.shapes import LAST_APPLIED
from kubectl_spread.cluster.snapshot import Cluster, Controller
from kubectl_spread.containers import Numbering
from kubectl_spread.engine import steps
from kubectl_spread.engine.world import same_template
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.selectors import LabelRequirement
from kubectl_spread.objects.workloads.replica import replica
from kubectl_spread.objects.workloads.workload import Workload

_OF_ONE_POD: dict[str, Any] = dict.fromkeys(
    ("name", "uid", "start_time", "message", "created", "refused_since", "ready_since"), ""
)

_AFTER_CLASS = Pod._fields.index("cls") + 1


def shape_of(
    key: ObjectKey, cluster: Cluster, ops: Sequence[steps.Op], *, made: PodClass, minor: int
) -> Optional[Hashable]:
    """Return what the outcomes of steps depend on, apart from names; None if that is more than is read here.

    Args:
        key: the only workload of the cluster.
        cluster: the workload with its pods, the budgets that select them, and the nodes.
        ops: the steps.
        made: the class of new pods.
        minor: of the release.
    """
    classes = {made: None, **{pod.cls: None for pod in cluster.pods}}
    is_plain = all(cls.constraints and not cls.volumes for cls in classes)  # Default constraints read Services.
    if not is_plain or key.kind == "StatefulSet" or key in cluster.autoscalers:
        return None
    if any(isinstance(op, steps.Apply) for op in ops):
        return None
    names = _Names()
    of_cls = {cls: names.of_class(cls) for cls in classes}
    above = cluster.controllers[key]
    controllers = [(key, above), *sorted(item for item in cluster.controllers.items() if item[0] != key)]
    of_controllers = tuple(
        names.of_controller(item, above, stored_workload(item.workload, cluster, minor)) for _, item in controllers
    )
    of_uid = {pod.uid: (of_cls[pod.cls], pod._replace(**_OF_ONE_POD)[_AFTER_CLASS:]) for pod in cluster.pods}
    budgets = tuple(
        (names.of_selector(item.selector.requirements), item.namespace, item.disruptions_allowed)
        + (len(item.disrupted_pods), item.min_available, item.max_unavailable, item.unhealthy_policy)
        for item in cluster.budgets
    )
    return (
        (key.kind, key.namespace, of_cls[made], budgets, of_controllers),
        tuple(
            (
                type(op),
                tuple(map(of_uid.get, getattr(op, "uids", ()))),
                *(value for name, value in op._asdict().items() if name not in ("key", "uids")),
            )
            for op in ops
        ),
        frozenset(Counter(of_uid.values()).items()),
        tuple(node.name for node in cluster.nodes),
    )


class _Names:
    """Numbers for the names and label values of a workload, in the order of their appearance."""

    def __init__(self) -> None:
        self._numbers = Numbering[str]()

    def _number(self, text: object) -> int:
        return self._numbers[str(text)]

    def of_selector(self, requirements: Optional[Iterable[LabelRequirement]]) -> Hashable:
        if requirements is None:
            return None
        return tuple((item.key, item.operator, tuple(map(self._number, item.values))) for item in requirements)

    def of_class(self, cls: PodClass) -> Hashable:
        """Return a class without what only scores read: every node that fits is possible here."""
        constraints = tuple(
            (
                item._replace(label_selector=None),
                item.label_selector and self.of_selector(item.label_selector.requirements()),
            )
            for item in cls.constraints
        )
        bare = cls._replace(
            labels=(),
            constraints=(),
            owner=None,
            owner_uid="",
            images=(),
            init_images=0,
            image_volumes=(),
            preferred_affinity=(),
            preferred_anti_affinity=(),
        )
        labels = tuple((name, self._number(text)) for name, text in cls.labels)
        return bare, constraints, labels, cls.owner and (cls.owner.kind, self._number(cls.owner.name))

    def of_controller(self, controller: Controller, above: Controller, stored: Workload) -> Hashable:
        """Return a controller of the workload; its template as pods of `stored`, unless that is the one of `above`."""
        owner = controller.workload
        is_alike = same_template(owner.template, above.workload.template)
        template = fields(owner.template, "spec")
        is_own = bool(template) and not is_alike
        labels = fields(owner.template, "metadata", "labels")
        return (
            (owner.kind, self._number(owner.name), owner.replicas, owner.is_paused, owner.is_foreign, is_alike),
            self.of_class(replica(stored, 0).cls) if is_own else bool(template),
            tuple((name, self._number(text)) for name, text in sorted(labels.items())),
            repr(
                sorted((name, item) for name, item in controller.spec.items() if name not in ("selector", "template"))
            ),
            tuple(item for item in sorted(controller.annotations.items()) if item[0] != LAST_APPLIED),
            (template.get("terminationGracePeriodSeconds"), template.get("nodeName"), template.get("readinessGates")),
        )
