"""Commands that can be simulated, with kubectl's flags for each.

Source: staging/src/k8s.io/kubectl/pkg/cmd (v1.36.2).
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Use(Enum):
    """Treatment of a flag."""

    USED = "used"
    IGNORED = "ignored"  # The flag cannot change the outcome.
    REFUSED = "refused"  # The flag could change the outcome, but is not simulated.


class Takes(Enum):
    """Kind of value that a flag takes."""

    NOTHING = "nothing"  # true or false, as in --force=false
    VALUE = "value"  # in the same word or in the next one
    MAYBE = "maybe"  # in the same word or none, as in --dry-run=server


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


def _used(*names: str, takes: Takes = Takes.VALUE) -> tuple[Flag, ...]:
    return tuple(_named(name, takes, Use.USED) for name in names)


def _ignored(*names: str, takes: Takes = Takes.VALUE) -> tuple[Flag, ...]:
    return tuple(_named(name, takes, Use.IGNORED) for name in names)


def _refused(*names: str, takes: Takes = Takes.VALUE) -> tuple[Flag, ...]:
    return tuple(_named(name, takes, Use.REFUSED) for name in names)


def _named(name: str, takes: Takes, use: Use) -> Flag:
    """Return a flag from `name` or `name|letter`."""
    long, _, short = name.partition("|")
    return Flag(long, takes, use, short)


_COMMON = (
    *_used("namespace|n"),
    *_ignored("output|o", "template", "field-manager", "v|v", "vmodule", "log-flush-frequency", "cache-dir", "kuberc"),
    *_ignored("profile", "profile-output"),
    *_ignored("dry-run", takes=Takes.MAYBE),
    *_ignored("show-managed-fields", "allow-missing-template-keys", "warnings-as-errors", takes=Takes.NOTHING),
    *_ignored("disable-compression", "match-server-version", takes=Takes.NOTHING),
)
_FILES = (*_used("filename|f", "kustomize|k"), *_used("recursive|R", takes=Takes.NOTHING))
_SELECTED = _used("selector|l")
_EVERY = _used("all", takes=Takes.NOTHING)
_CHANGED = (*_FILES, *_SELECTED)
_NODES = (*_COMMON, *_SELECTED)
_WAITING = (*_ignored("timeout"), *_ignored("wait", takes=Takes.NOTHING))
_RECORDED = _ignored("record", takes=Takes.NOTHING)

VERBS: dict[str, Verb] = {
    verb.name: verb
    for verb in (
        Verb(
            "rollout restart",
            "TYPE NAME | TYPE/NAME",
            "replace the pods of workloads",
            (*_COMMON, *_CHANGED),
        ),
        Verb(
            "rollout undo",
            "TYPE NAME | TYPE/NAME",
            "go back to an earlier revision",
            (*_COMMON, *_CHANGED, *_used("to-revision")),
        ),
        Verb("rollout pause", "TYPE NAME | TYPE/NAME", "pause a Deployment", (*_COMMON, *_CHANGED)),
        Verb("rollout resume", "TYPE NAME | TYPE/NAME", "resume a paused Deployment", (*_COMMON, *_CHANGED)),
        Verb(
            "scale",
            "TYPE NAME | TYPE/NAME --replicas=N",
            "change the number of replicas",
            (
                *_COMMON,
                *_CHANGED,
                *_EVERY,
                *_RECORDED,
                *_used("replicas", "current-replicas"),
                *_refused("resource-version"),
                *_WAITING[:1],
            ),
        ),
        Verb(
            "set image",
            "TYPE NAME | TYPE/NAME CONTAINER=IMAGE",
            "change images of a pod template",
            (*_COMMON, *_CHANGED, *_EVERY, *_RECORDED, *_refused("local", takes=Takes.NOTHING)),
        ),
        Verb(
            "set resources",
            "TYPE NAME | TYPE/NAME --requests=cpu=N --limits=memory=N",
            "change requests and limits of a pod template",
            (
                *_COMMON,
                *_CHANGED,
                *_EVERY,
                *_RECORDED,
                *_used("limits", "requests", "containers|c"),
                *_refused("local", takes=Takes.NOTHING),
            ),
        ),
        Verb(
            "set env",
            "TYPE NAME | TYPE/NAME KEY=VALUE | KEY-",
            "change environment variables of a pod template",
            (
                *_COMMON,
                *_CHANGED,
                *_EVERY,
                *_used("env|e", "containers|c"),
                *_used("overwrite", takes=Takes.MAYBE),
                *_ignored("resolve", takes=Takes.NOTHING),
                *_refused("from", "keys", "prefix"),
                *_refused("local", "list", takes=Takes.NOTHING),
            ),
        ),
        Verb(
            "apply",
            "-f FILE",
            "create or change objects as manifests say",
            (
                *_COMMON,
                *_CHANGED,
                *_RECORDED,
                *_WAITING,
                *_ignored("grace-period", "openapi-patch", "validate"),
                *_ignored("validate", "cascade", takes=Takes.MAYBE),
                *_ignored("server-side", "force-conflicts", "overwrite", takes=Takes.NOTHING),
                *_refused("prune", "all", "force", takes=Takes.NOTHING),
                *_refused("prune-allowlist", "applyset", "subresource"),
            ),
        ),
        Verb(
            "create",
            "-f FILE | deployment NAME --image=IMAGE | job NAME --from=cronjob/NAME | priorityclass NAME --value=N",
            "create objects that do not exist",
            (
                *_COMMON,
                *_FILES,
                *_RECORDED,
                *_used("from", "image", "replicas", "value", "preemption-policy", "hard", "scopes"),
                *_used("global-default", takes=Takes.NOTHING),
                *_ignored("port", "description"),
                *_ignored("validate", takes=Takes.MAYBE),
                *_ignored("save-config", "windows-line-endings", takes=Takes.NOTHING),
                *_refused("edit", takes=Takes.NOTHING),
                *_refused("raw", "selector|l"),
            ),
        ),
        Verb(
            "delete",
            "TYPE NAME | TYPE/NAME | TYPE -l SELECTOR | -f FILE",
            "delete pods, nodes, workloads, claims or other objects",
            (
                *_COMMON,
                *_CHANGED,
                *_EVERY,
                *_WAITING,
                *_used("grace-period"),
                *_used("cascade", takes=Takes.MAYBE),
                *_used("all-namespaces|A", "force", "ignore-not-found", "now", takes=Takes.NOTHING),
                *_ignored("interactive|i", takes=Takes.NOTHING),
                *_refused("raw", "field-selector"),
            ),
        ),
        Verb(
            "patch",
            "TYPE NAME | TYPE/NAME -p PATCH",
            "change fields of an object",
            (
                *_COMMON,
                *_FILES,
                *_RECORDED,
                *_used("patch|p", "patch-file", "type", "subresource"),
                *_refused("local", takes=Takes.NOTHING),
            ),
        ),
        Verb(
            "drain",
            "NODE...",
            "cordon nodes and evict their pods",
            (
                *_NODES,
                *_WAITING[:1],
                *_used("force", "ignore-daemonsets", "delete-emptydir-data", "disable-eviction", takes=Takes.NOTHING),
                *_used("delete-local-data", takes=Takes.NOTHING),
                *_used("pod-selector"),
                *_ignored("grace-period", "skip-wait-for-delete-timeout", "chunk-size"),
            ),
        ),
        Verb("cordon", "NODE...", "mark nodes as unschedulable", _NODES),
        Verb("uncordon", "NODE...", "mark nodes as schedulable", _NODES),
        Verb(
            "taint",
            "nodes NODE KEY=VALUE:EFFECT | KEY:EFFECT-",
            "add or remove taints of nodes",
            (
                *_NODES,
                *_EVERY,
                *_used("overwrite", takes=Takes.NOTHING),
                *_ignored("validate", takes=Takes.MAYBE),
            ),
        ),
        Verb(
            "label",
            "TYPE NAME KEY=VALUE | KEY-",
            "change labels of nodes or pods",
            (
                *_COMMON,
                *_CHANGED,
                *_EVERY,
                *_RECORDED,
                *_used("overwrite", takes=Takes.NOTHING),
                *_refused("resource-version", "field-selector"),
                *_refused("all-namespaces|A", "list", "local", takes=Takes.NOTHING),
            ),
        ),
        Verb(
            "annotate",
            "pods NAME controller.kubernetes.io/pod-deletion-cost=N",
            "change the deletion cost of pods",
            (
                *_COMMON,
                *_CHANGED,
                *_EVERY,
                *_RECORDED,
                *_used("overwrite", takes=Takes.NOTHING),
                *_refused("resource-version", "field-selector"),
                *_refused("all-namespaces|A", "list", "local", takes=Takes.NOTHING),
            ),
        ),
        Verb("lose", "KEY=VALUE", "the nodes with a label stop answering", _COMMON),
        Verb("restore", "KEY=VALUE", "lost nodes answer again", _COMMON),
        Verb(
            "add-nodes",
            "KEY=VALUE,count=N,cpu=4,memory=16Gi",
            "nodes join the cluster",
            (
                *_COMMON,
                *_used("taint", "labels|l"),
                *_used("not-ready", "unschedulable", takes=Takes.NOTHING),
            ),
        ),
    )
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
