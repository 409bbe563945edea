"""Messages about Pending pods as people paste them: the page `catalogue.md`, as tables."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple


class Component(Enum):
    """The component that wrote a message."""

    SCHEDULER = "kube-scheduler"
    FARGATE = "fargate-scheduler"
    VOLCANO = "Volcano"
    CLUSTER_AUTOSCALER = "cluster-autoscaler"
    KARPENTER = "Karpenter"
    API_SERVER = "kube-apiserver"
    CONTROLLER = "kube-controller-manager"
    KOPS = "kops"
    KUBECTL = "kubectl"
    KUBELET = "kubelet"
    VOLUME_CONTROLLER = "persistentvolume-controller"
    PROVISIONER = "external-provisioner"
    KUEUE = "Kueue"
    HELM = "Helm"
    ARGO_CD = "Argo CD"
    VALIDATOR = "a schema validator"
    UNKNOWN = "unknown"


class Form(NamedTuple):
    """A sentence of a component; or a reason, which has no component and no shape.

    shape: a regular expression without regard to capitals, with the blanks as the page writes them.
    """

    name: str
    component: Component
    shape: str
    meaning: str
    commands: tuple[str, ...] = ()


def _items(section: str) -> dict[str, str]:
    return dict(re.findall(r"^- (.+?): (.*)$", section, re.MULTILINE))


def with_fragments(pattern: str, component: Component = Component.UNKNOWN) -> str:
    """Return a pattern with the fragments that it names, which may be of a component."""

    def fragment(at: re.Match[str]) -> str:
        found = FRAGMENTS.get(f"{at[1]} {component.value}") or FRAGMENTS[at[1]]
        return with_fragments(found, component)

    return re.sub(r"\(\?&(\w+)\)", fragment, pattern)


def _forms(section: str, component: Component) -> Iterator[Form]:
    for part in re.split(r"^### ", section, flags=re.MULTILINE)[1:]:
        name, *lines = part.splitlines()
        yield Form(
            name,
            component,
            with_fragments("".join(line.strip() for line in lines if line.startswith(_CODE)), component),
            " ".join(line for line in lines if line and not line.startswith((_CODE, "- "))),
            tuple(COMMANDS.get(line[2:], line[2:]) for line in lines if line.startswith("- ")),
        )


_CODE = "    "
with open(os.path.join(os.path.dirname(__file__), "catalogue.md"), encoding="utf-8") as _page:
    _parts = re.split(r"^## (.+)\n", _page.read(), flags=re.MULTILINE)
*_tables, _reasons, _wordings = _parts[2:22:2]
FRAGMENTS, COMMANDS, UNNAMED, NODE_POOLS, PROVISIONERS, VERDICTS, ROLES, OF_ONE = map(_items, _tables)
REASONS = {form.name: form for form in _forms(_reasons, Component.UNKNOWN)}
# Reason, whether it is of the pod, first and last minor version, text or begin, pattern; empty without one.
WORDINGS = re.findall(r"^- (\w+)(, pod)?(?:, (\d*)\.\.(\d*))?: (.*)(?:\n  (.*))?$", _wordings, re.MULTILINE)
FORMS = tuple(
    form
    for components, section in zip(_parts[21::2], _parts[22::2], strict=True)
    for component in components.split(", ")
    for form in _forms(section, Component(component))
)
