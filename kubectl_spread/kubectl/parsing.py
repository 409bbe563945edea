"""Kubectl command lines: the commands that can be simulated with their flags, and a parser like kubectl's (pflag).

Source: staging/src/k8s.io/kubectl/pkg/cmd (v1.36.2).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple

from kubectl_spread.errors import RequestError
from kubectl_spread.text.scalars import natural
from kubectl_spread.text.wording import did_you_mean, nearest, short


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


_TRUE, _FALSE = ("1", "t", "T", "true", "TRUE", "True"), ("0", "f", "F", "false", "FALSE", "False")
_PREFIXES = (("kubectl", "spread", "simulate"), ("kubectl",), ("k",), ("oc",))


class StepError(RequestError):
    """A step that kubectl would refuse with its usage, or that is not simulated; `str()` is the reason."""


class Command(NamedTuple):
    """A command: its verb, its arguments, and its relevant flags, each with all its values."""

    verb: Verb
    arguments: tuple[str, ...]
    flags: dict[str, tuple[str, ...]]
    text: str

    def value(self, name: str, default: str = "") -> str:
        """Return the last value of a flag."""
        return self.flags.get(name, (default,))[-1]

    def number(self, name: str, most: int = 10**18 - 1) -> int:
        """Return the number of a flag; 0 if it is not set.

        Raises:
            StepError: it is no number, or is too long to be read; then its text has `most`.
        """
        text = self.value(name, "0")
        digits = text.removeprefix("-")
        number = natural(digits)
        if number is None:
            is_long = digits.isascii() and digits.isdecimal()
            why = f"the largest number is {most:,}" if is_long else "it takes a number"
            raise StepError(f'invalid argument "{short(text)}" for "--{name}" flag: {why}')
        return number if text == digits else -number

    def values(self, name: str) -> tuple[str, ...]:
        """Return every value of a flag."""
        return self.flags.get(name, ())

    def has(self, name: str) -> bool:
        """Return whether a flag is set, and not to false."""
        return self.value(name, "false") not in _FALSE


def parse_text(text: str) -> Command:
    """Parse a command that is written as one text, with a shell's quoting.

    Raises:
        StepError: the command cannot be simulated.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise StepError(f"{str(error).lower()}: {short(text)}") from None
    return parse(words)


def parse(words: Sequence[str]) -> Command:
    """Parse the words of a command; a leading `kubectl` is skipped.

    Raises:
        StepError: the command cannot be simulated.
    """
    typed = without_prefix(words)
    verb, left = _verb(typed)
    arguments: list[str] = []
    flags: dict[str, tuple[str, ...]] = {}
    unknown: list[str] = []
    while left:
        word = left.pop(0)
        if word == "--":
            arguments += left
            break
        if word == "-" or not word.startswith("-"):
            arguments.append(word)
            continue
        found = _flags_of(word, verb, left)
        if found is None:
            unknown.append(word.partition("=")[0])
        for flag, value in found or ():
            if flag.use is Use.REFUSED:
                raise StepError(f"--{flag.name} of `{verb.name}` is not simulated")
            flags[flag.name] = (*flags.get(flag.name, ()), value)
    if unknown:
        hint = did_you_mean(unknown[0], [f"--{flag.name}" for flag in verb.flags if flag.use is not Use.REFUSED])
        raise StepError("; ".join(filter(None, (f"unknown flag {short(unknown[0])} of `{verb.name}`", hint))))
    return Command(verb, tuple(arguments), flags, shlex.join(typed))


def replica_range(commands: Iterable[Command]) -> str:
    """Return the range of a `scale` among the commands, as in --replicas=1..50; empty if there is none."""
    replicas = (command.value("replicas") for command in commands if command.verb.name == "scale")
    return next((text for text in replicas if ".." in text), "")


def without_prefix(words: Sequence[str]) -> list[str]:
    """Return a step without `kubectl` in front; `restart web` is `rollout restart web`."""
    left = list(words)
    for prefix in _PREFIXES:
        if tuple(left[: len(prefix)]) == prefix:
            del left[: len(prefix)]
            break
    return ["rollout", *left] if left and f"rollout {left[0]}" in VERBS else left


def _verb(words: Sequence[str]) -> tuple[Verb, list[str]]:
    """Return the verb and the other words; kubectl accepts flags before the verb, too."""
    at = next((at for at, word in enumerate(words) if not word.startswith("-")), None)
    if at is None or not words[at].strip():
        raise StepError(f"there is no step; the steps are {', '.join(VERBS)}")
    first = words[at]
    second = words[at + 1] if len(words) > at + 1 else ""
    if first not in GROUPS:
        return find_verb(first, following=second), [*words[:at], *words[at + 1 :]]
    return find_verb(f"{first} {second}".strip()), [*words[:at], *words[at + 2 :]]


def find_verb(name: str, *, following: str = "") -> Verb:
    """Return a verb by its name; `following` is the next word, in case the verb should have two.

    Raises:
        StepError: it does not exist; the message names the nearest one.
    """
    if name in VERBS:
        return VERBS[name]
    if name in OTHERS:
        raise StepError(f"`{short(name)}` is not simulated: {OTHERS[name]}")
    known = [verb for verb in VERBS if verb.startswith(f"{name.split(maxsplit=1)[0]} ")] or list(VERBS)
    near = "" if name in GROUPS else nearest(f"{name} {following}", _PAIRS) or nearest(name, known)
    hint = f"did you mean `{near}`?" if near else f"the steps are {', '.join(known)}"
    if name.endswith((".yaml", ".yml", ".json")):
        hint = f"`run {name}` plays a scenario, `create -f {name}` creates its objects"
    raise StepError(f"unknown step `{short(name)}`; {hint}")


_PAIRS = tuple(verb for verb in VERBS if " " in verb)


def verb_of(words: Sequence[str]) -> Verb:
    """Return the verb at the start of the words.

    Raises:
        StepError: there is none.
    """
    return _verb(without_prefix(words))[0]


def count_flag_words(word: str, verb: Verb, following: Sequence[str]) -> int | None:
    """Return how many following words belong to a flag of a verb; None if the word is not a flag."""
    left = list(following)
    try:
        found = _flags_of(word, verb, left)
    except StepError:
        return 0  # `parse` reports the error.
    return None if found is None else len(following) - len(left)


def _flags_of(word: str, verb: Verb, left: list[str]) -> list[tuple[Flag, str]] | None:
    """Return the flags of a word with their values, taken from `left` if needed; None if a flag is unknown."""
    if word.startswith("--"):
        name, equals, value = word[2:].partition("=")
        flag = verb.flag(name) if len(name) > 1 else None
        return None if flag is None else [(flag, _value(flag, value if equals else None, left))]
    found: list[tuple[Flag, str]] = []
    letters = word[1:]  # as in `-Rf FILE`, `-lapp=web`, `-n=shop`
    while letters:
        flag = verb.flag(letters[0])
        if flag is None or not flag.short:
            return None
        rest = letters[1:]
        if flag.takes is Takes.VALUE:
            return [*found, (flag, _value(flag, rest.removeprefix("=") if rest else None, left))]
        if rest.startswith("="):
            return [*found, (flag, _value(flag, rest[1:], left))]
        found.append((flag, "true"))
        letters = rest
    return found


def _value(flag: Flag, given: str | None, left: list[str]) -> str:
    if flag.takes is Takes.VALUE:
        if given is None and not left:
            raise StepError(f"flag needs an argument: --{flag.name}")
        return left.pop(0) if given is None else given
    if given is None:
        return "true"
    if flag.takes is Takes.NOTHING and given not in (*_TRUE, *_FALSE):
        raise StepError(f'invalid argument "{given}" for "--{flag.name}" flag: it takes true or false')
    return given
