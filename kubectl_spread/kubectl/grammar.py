"""Commands that can be simulated, with kubectl's flags for each.

Source: staging/src/k8s.io/kubectl/pkg/cmd (v1.36.2).
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple


class Use(Enum):
    """Treatment of a flag, with the sign before its name in a text."""

    USED = ""
    IGNORED = "~"  # The flag cannot change the outcome.
    REFUSED = "!"  # The flag could change the outcome, but is not simulated.


class Takes(Enum):
    """Kind of value that a flag takes, with the sign after its name in a text."""

    NOTHING = ""  # true or false, as in --force=false
    VALUE = "="  # in the same word or in the next one
    MAYBE = "?"  # in the same word or none, as in --dry-run=server


class Flag(NamedTuple):
    """A flag by its name without dashes; `short` is one letter."""

    name: str
    takes: Takes = Takes.NOTHING
    use: Use = Use.USED
    short: str = ""


class Verb(NamedTuple):
    """A command with its arguments and flags."""

    name: str
    arguments: str
    summary: str
    flags: tuple[Flag, ...]

    def flag(self, name: str) -> Flag | None:
        """Return a flag by its name or its letter."""
        return next((flag for flag in self.flags if name in (flag.name, flag.short)), None)


# A flag in a text: `name|n` has a short form. `name=` takes a value, and `name?` may take one. `~` comes before a flag
# that is ignored, and `!` before one that is refused.
_FLAG = re.compile(r"([~!]?)([\w-]+)\|?(\w?)([=?]?)")

_COMMON = (
    "namespace|n= ~output|o= ~template= ~field-manager= ~v|v= ~vmodule= ~log-flush-frequency= ~cache-dir= ~kuberc= "
    "~profile= ~profile-output= ~dry-run? ~show-managed-fields ~allow-missing-template-keys ~warnings-as-errors "
    "~disable-compression ~match-server-version "
)
_FILES = "filename|f= kustomize|k= recursive|R "
_SELECTED = "selector|l= "
_CHANGED = f"{_COMMON}{_FILES}{_SELECTED}"
_NODES = f"{_COMMON}{_SELECTED}"
_TEMPLATES = f"{_CHANGED}all ~record "
_LABELLED = f"{_TEMPLATES}overwrite !resource-version= !field-selector= !all-namespaces|A !list !local"
_OBJECTS = "TYPE NAME | TYPE/NAME"

# The arguments, the summary and the flags of each command.
_VERBS = {
    "rollout restart": (_OBJECTS, "replace the pods of workloads", _CHANGED),
    "rollout undo": (_OBJECTS, "go back to an earlier revision", f"{_CHANGED}to-revision="),
    "rollout pause": (_OBJECTS, "pause a Deployment", _CHANGED),
    "rollout resume": (_OBJECTS, "resume a paused Deployment", _CHANGED),
    "scale": (
        f"{_OBJECTS} --replicas=N",
        "change the number of replicas",
        f"{_TEMPLATES}replicas= current-replicas= !resource-version= ~timeout=",
    ),
    "set image": (
        f"{_OBJECTS} CONTAINER=IMAGE",
        "change images of a pod template",
        f"{_TEMPLATES}!local",
    ),
    "set resources": (
        f"{_OBJECTS} --requests=cpu=N --limits=memory=N",
        "change requests and limits of a pod template",
        f"{_TEMPLATES}limits= requests= containers|c= !local",
    ),
    "set env": (
        f"{_OBJECTS} KEY=VALUE | KEY-",
        "change environment variables of a pod template",
        f"{_CHANGED}all env|e= containers|c= overwrite? ~resolve !from= !keys= !prefix= !local !list",
    ),
    "apply": (
        "-f FILE",
        "create or change objects as manifests say",
        (
            f"{_CHANGED}~record ~timeout= ~wait ~grace-period= ~openapi-patch= ~validate= ~cascade? ~server-side "
            "~force-conflicts ~overwrite !prune !all !force !prune-allowlist= !applyset= !subresource="
        ),
    ),
    "create": (
        "-f FILE | deployment NAME --image=IMAGE | job NAME --from=cronjob/NAME | priorityclass NAME --value=N",
        "create objects that do not exist",
        (
            f"{_COMMON}{_FILES}~record from= image= replicas= value= preemption-policy= hard= scopes= global-default "
            "~port= ~description= ~validate? ~save-config ~windows-line-endings !edit !raw= !selector|l="
        ),
    ),
    "delete": (
        f"{_OBJECTS} | TYPE -l SELECTOR | -f FILE",
        "delete pods, nodes, workloads, claims or other objects",
        (
            f"{_CHANGED}all ~timeout= ~wait grace-period= cascade? all-namespaces|A force ignore-not-found now "
            "~interactive|i !raw= !field-selector="
        ),
    ),
    "patch": (
        f"{_OBJECTS} -p PATCH",
        "change fields of an object",
        f"{_COMMON}{_FILES}~record patch|p= patch-file= type= subresource= !local",
    ),
    "drain": (
        "NODE...",
        "cordon nodes and evict their pods",
        (
            f"{_NODES}timeout= force ignore-daemonsets delete-emptydir-data disable-eviction delete-local-data "
            "pod-selector= ~grace-period= skip-wait-for-delete-timeout= ~chunk-size="
        ),
    ),
    "cordon": ("NODE...", "mark nodes as unschedulable", _NODES),
    "uncordon": ("NODE...", "mark nodes as schedulable", _NODES),
    "taint": (
        "nodes NODE KEY=VALUE:EFFECT | KEY:EFFECT-",
        "add or remove taints of nodes",
        f"{_NODES}all overwrite ~validate?",
    ),
    "label": ("TYPE NAME KEY=VALUE | KEY-", "change labels of nodes or pods", _LABELLED),
    "annotate": (
        "pods NAME controller.kubernetes.io/pod-deletion-cost=N",
        "change the deletion cost of pods",
        _LABELLED,
    ),
    "lose": ("KEY=VALUE", "the nodes with a label stop answering", _COMMON),
    "restore": ("KEY=VALUE", "lost nodes answer again", _COMMON),
    "add-nodes": (
        "KEY=VALUE,count=N,cpu=4,memory=16Gi",
        "nodes join the cluster",
        f"{_COMMON}taint= labels|l= not-ready unschedulable",
    ),
}
VERBS = {
    name: Verb(
        name,
        arguments,
        summary,
        tuple(Flag(part[2], Takes(part[4]), Use(part[1]), part[3]) for part in _FLAG.finditer(flags)),
    )
    for name, (arguments, summary, flags) in _VERBS.items()
}

GROUPS = frozenset(name.split()[0] for name in VERBS if " " in name)  # `rollout` and `set` take a second word

# Commands of kubectl without an effect on the timeline, with the reason.
OTHERS = {
    "get": "it changes nothing",
    "describe": "it changes nothing",
    "logs": "it changes nothing",
    "diff": "it changes nothing",
    "rollout status": "it changes nothing; simulate the step whose status you would watch",
    "rollout history": "it changes nothing",
    "replace": "use `apply -f`",
    "edit": "use `patch`, or `apply -f` with the changed manifest",
    "run": "use `run FILE` alone for a scenario; use `apply -f` to create a pod",
    "autoscale": "use `apply -f` with a HorizontalPodAutoscaler, or `--replicas MIN..MAX` for a table",
}
