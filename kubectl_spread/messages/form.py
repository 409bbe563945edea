"""The form of a component's sentence, and a match of a form in a text."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Component(Enum):
    """The component that wrote a message."""

    SCHEDULER = "kube-scheduler"
    CLUSTER_AUTOSCALER = "cluster-autoscaler"
    KARPENTER = "Karpenter"
    API_SERVER = "kube-apiserver"
    CONTROLLER = "kube-controller-manager"
    KOPS = "kops"
    KUBECTL = "kubectl"
    KUBELET = "kubelet"
    VOLUME_CONTROLLER = "persistentvolume-controller"
    HELM = "Helm"
    ARGO_CD = "Argo CD"
    VALIDATOR = "a schema validator"
    UNKNOWN = "unknown"


class Form(NamedTuple):
    """The shape of a sentence; `shape` is a regular expression without regard to capitals."""

    name: str
    component: Component
    shape: str
    meaning: str
    commands: tuple[str, ...] = ()


class RecognizedSentence(NamedTuple):
    """A sentence that was recognised, from `start` to `end` of a text."""

    form: Form
    start: int
    end: int
    details: dict[str, str]
