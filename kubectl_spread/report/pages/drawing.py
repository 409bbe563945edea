"""The drawing that all pages share: domains as boxes, nodes inside them, pods as dots, Pending pods apart.

```
Drawing ─┬─ DomainBox "a" ─┬─ NodeBox "a1"  ● ● ○
         │                 └─ NodeBox ×38   (38 nodes that look the same)
         ├─ DomainBox ×12  (12 domains that look the same)
         └─ pending        ◌ ◌
```

A drawing has a bounded number of boxes. Of many nodes, the empty ones share a box in each domain. If that is not
enough, all nodes that look the same share one, and so do domains.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple, Optional

from kubectl_spread.containers import grouped
from kubectl_spread.explain.status import ConstraintState, ConstraintStatus
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.selectors import HOSTNAME, ZONE
from kubectl_spread.text.wording import count_noun

_FEW_NODES = 48  # up to which each node has its own box, also if it is empty
_MOST_BOXES = 120  # of nodes in a drawing, before nodes with pods share them, too
_MOST_DOMAINS = 24  # boxes of single domains
_MOST_KINDS = 12  # boxes of equal nodes in a domain, or of equal domains
_MOST_NAMES = 12  # names in a box of many
_MOST_DOTS = 12  # dots of one look in a box; more are one dot and a number


class Shape(Enum):
    """Shape of a dot; the value is its class in the style sheet."""

    CURRENT = "now"
    EARLIER = "old"
    NEW = "new"
    OTHER = "oth"
    STARTING = "sta"
    TERMINATING = "end"
    PENDING = "pen"


_RANKS = {shape: at for at, shape in enumerate(Shape)}


class Look(NamedTuple):
    """Look of a dot, and its entry in the legend. mark: a letter in the dot; hue: 0 to 5."""

    label: str
    shape: Shape = Shape.CURRENT
    mark: str = ""
    hue: int = 0


class DrawnPod(NamedTuple):
    """A pod to draw; `node` is empty while it is Pending."""

    name: str
    node: str
    look: Look


class DrawnNode(NamedTuple):
    """A node to draw. domain: None if it lacks the topology key. notes: words such as `cordoned`."""

    name: str
    domain: Optional[str]
    notes: tuple[str, ...] = ()


class Dots(NamedTuple):
    """Dots of one look. names: the known names of their pods, at most a few."""

    look: Look
    pods: int
    names: tuple[str, ...] = ()

    @property
    def shown(self) -> int:
        """Return the number of dots to draw: one per pod, or a single dot for many pods."""
        return self.pods if self.pods <= _MOST_DOTS else 1


class NodeBox(NamedTuple):
    """A node, or `number` nodes that look the same. names: of the nodes, at most a few."""

    names: tuple[str, ...]
    dots: tuple[Dots, ...]
    notes: tuple[str, ...] = ()
    number: int = 1
    is_marked: bool = False


class DomainBox(NamedTuple):
    """A domain, or `number` domains that look the same. total: pods by look. nodes: how many there are in each."""

    names: tuple[Optional[str], ...]
    boxes: tuple[NodeBox, ...]
    total: tuple[Dots, ...]
    nodes: int
    number: int = 1
    more: int = 0  # nodes that no box shows

    @property
    def pods(self) -> int:
        return sum(dots.pods for dots in self.total)


class Drawing(NamedTuple):
    """A picture of nodes and pods.

    key: the topology key; empty if all nodes share one box. suffix: the domain name that all names of nodes end with.
    lost: pods on nodes that do not exist. more: domains that no box shows.
    """

    key: str
    domains: tuple[DomainBox, ...]
    pending: tuple[Dots, ...]
    legend: tuple[Look, ...]
    lost: tuple[Dots, ...] = ()
    more: int = 0
    suffix: str = ""


def map_key(wanted: Iterable[str], nodes: Iterable[Node]) -> str:
    """Return the topology key whose domains a map shows: the first that is not the hostname, else the zone if known."""
    keys = [key for key in (*wanted, ZONE) if key != HOSTNAME]
    known = {key for node in nodes for key in keys if key in node.labels}
    return next((key for key in keys if key in known), "")


def notes_of(node: Node) -> tuple[str, ...]:
    """Return `cordoned`, and the taints that keep pods away."""
    taints = tuple(
        f"taint {taint.key.rpartition('/')[2]}"
        for taint in node.taints
        if taint.repels and not (node.unschedulable and taint.key.endswith("/unschedulable"))
    )
    return ("cordoned", *taints) if node.unschedulable else taints


def drawn_nodes(
    nodes: Iterable[Node], key: str, notes: Callable[[Node], tuple[str, ...]] = notes_of
) -> list[DrawnNode]:
    """Return the nodes in the domains of a topology key."""
    return [DrawnNode(node.name, node.labels.get(key) if key else "", notes(node)) for node in nodes]


def added_nodes(nodes: Iterable[Node], key: str) -> list[DrawnNode]:
    """Return nodes that do not exist yet."""
    return drawn_nodes(nodes, key, lambda _: (ADDED,))


ADDED = "added by Karpenter"
_HUES = 6


def letter(at: int, *, is_small: bool = False) -> tuple[str, int]:
    """Return the mark and the hue of one of several workloads."""
    return chr(ord("a" if is_small else "A") + at % 26), at % _HUES


def draw(
    key: str,
    nodes: Sequence[DrawnNode],
    pods: Sequence[DrawnPod],
    *,
    keep: Collection[str] = frozenset(),
    marked: Collection[str] = frozenset(),
) -> Drawing:
    """Return the drawing of pods on all nodes, in the domains of a topology key.

    Args:
        key: the topology key; empty for one box around all nodes.
        nodes: all nodes.
        pods: the pods to show.
        keep: names of nodes that have a box of their own also if they are empty.
        marked: names of nodes to mark.
    """
    there = {node.name for node in nodes}
    on = grouped((pod.node, pod) for pod in pods)
    domains = grouped(
        (item.domain, NodeBox((item.name,), _dots(on.get(item.name, ())), item.notes, is_marked=item.name in marked))
        for item in nodes
    )
    # All of a few nodes have boxes of their own, else those with pods and those to keep, or none if even these are too
    # many.
    nodes_in = [box for of_domain in domains.values() for box in of_domain]
    own, most = {box.names[0] for box in nodes_in}, _MOST_BOXES
    if len(nodes_in) > _FEW_NODES:
        own = {box.names[0] for box in nodes_in if box.dots or box.names[0] in keep}
        own, most = (own, _MOST_BOXES) if len(domains) + len(own) <= _MOST_BOXES else (set(), _MOST_KINDS)
    boxes = [
        _domain(value, domains[value], own, most=most)
        for value in sorted(domains, key=lambda value: (value is None, value or ""))
    ]
    shown = boxes if len(boxes) <= _MOST_DOMAINS else _alike_domains(boxes)
    lost = [pod for name, found in on.items() if name and name not in there for pod in found]
    ends = {name.partition(".")[2] for name in there}
    return Drawing(
        key,
        tuple(shown[: 2 * _MOST_KINDS]),
        _dots(on.get("", ())),
        tuple(dict.fromkeys(pod.look for pod in sorted(pods, key=lambda pod: order(pod.look)))),
        _dots(lost),
        sum(box.number for box in shown[2 * _MOST_KINDS :]),
        f".{ends.pop()}" if len(nodes) > 1 and len(ends) == 1 and ends != {""} else "",
    )


def order(look: Look) -> tuple[int, str, int]:
    """Return a key that sorts dots of one workload together."""
    return look.hue, look.mark, _RANKS[look.shape]


def _dots(pods: Iterable[DrawnPod]) -> tuple[Dots, ...]:
    names = grouped((pod.look, pod.name) for pod in pods)
    return tuple(
        [  # A name with `*` stands for any pod of a workload.
            Dots(look, len(names[look]), tuple([name for name in names[look][:_MOST_NAMES] if not name.endswith("-*")]))
            for look in sorted(names, key=order)
        ]
    )


def _domain(value: Optional[str], nodes: list[NodeBox], own: Collection[str], *, most: int) -> DomainBox:
    total: Counter[Look] = Counter()
    for box in nodes:
        for dots in box.dots:
            total[dots.look] += dots.pods
    shown = [box for box in nodes if box.names[0] in own]
    # Others with the same dots and notes share a box; the fullest first, and nodes without pods last.
    rest = [box for box in nodes if box.names[0] not in own]
    merged = []
    for same in grouped(((_counts(box.dots), box.notes), box) for box in rest).values():
        names = tuple(name for box in same[:_MOST_NAMES] for name in box.names)
        shared = same[0].dots if len(same) == 1 else tuple(item._replace(names=()) for item in same[0].dots)
        merged.append(NodeBox(names, shared, same[0].notes, len(same)))
    shown += sorted(merged, key=lambda box: -sum(item.pods for item in box.dots))
    return DomainBox(
        (value,),
        tuple(shown[:most]),
        tuple(Dots(look, total[look]) for look in sorted(total, key=order)),
        len(nodes),
        more=sum(box.number for box in shown[most:]),
    )


def _alike_domains(boxes: list[DomainBox]) -> list[DomainBox]:
    """Merge domains with the same pods and as many nodes; the fullest first."""
    merged = []
    for same in grouped(((_counts(box.total), box.nodes, box.names == (None,)), box) for box in boxes).values():
        names = tuple(name for box in same[:_MOST_NAMES] for name in box.names)
        merged.append(same[0] if len(same) == 1 else DomainBox(names, (), same[0].total, same[0].nodes, len(same)))
    return sorted(merged, key=lambda box: -box.pods)


def _counts(dots: Iterable[Dots]) -> tuple[tuple[Look, int], ...]:
    return tuple((item.look, item.pods) for item in dots)


_MOST_BARS = 24  # more domains with equal counts share a bar


class Bar(NamedTuple):
    """A domain, or `number` domains with the same count. over: the pods above the limit."""

    names: tuple[str, ...]
    pods: int
    over: int
    number: int


class Chart(NamedTuple):
    """The pods per domain of a constraint or a rule.

    badge: words, and their tone. limit: the most that is allowed; None without one. least: None for the emptiest
    domain. is_hard: whether more than the limit is bad. skew, reason: sentences about the skew and the state. words:
    for the lines of the least and of the limit.
    """

    title: str
    counts: Mapping[str, int]
    badge: tuple[str, str] = ("", "")
    limit: Optional[int] = None
    least: Optional[int] = None
    is_hard: bool = True
    skew: str = ""
    reason: str = ""
    words: tuple[str, str] = ("emptiest domain", "")

    @property
    def minimum(self) -> int:
        return min(self.counts.values(), default=0) if self.least is None else self.least

    @property
    def scale(self) -> int:
        """Return the count that fills a bar."""
        return max(*self.counts.values(), self.limit or 0, 1)

    @property
    def bars(self) -> list[Bar]:
        """Return a bar for each domain; of many domains, those with equal counts share one."""
        groups = [([value], pods) for value, pods in self.counts.items()]
        if len(groups) > _MOST_BARS:
            values_of = grouped((pods, value) for (value,), pods in groups)
            groups = [(values, pods) for pods, values in sorted(values_of.items(), reverse=True)]
        return [
            Bar(tuple(values[:_MOST_NAMES]), pods, 0 if self.limit is None else max(0, pods - self.limit), len(values))
            for values, pods in groups
        ]


BADGES = {  # words for a state, and their tone: good, warn, bad or soft
    ConstraintState.OK: ("ok", "good"),
    ConstraintState.VIOLATED: ("violated", "bad"),
    ConstraintState.UNEVEN: ("uneven", "warn"),
    ConstraintState.NO_EFFECT: ("no effect", "soft"),
    ConstraintState.PARTLY_COUNTED: ("partly counted", "bad"),
    ConstraintState.UNKNOWN: ("unknown", "warn"),
}


def constraint_chart(item: ConstraintStatus, *, not_spread: int) -> Chart:
    """Return the chart of a constraint of a running workload, with the arithmetic of its skew.

    `not_spread` pods of the workload are Pending because of spreading, so that a hard constraint is not `ok` for them.
    """
    is_hard, blocked = item.is_hard, not_spread if item.is_hard and item.state is ConstraintState.OK else 0
    skew = few = ""
    if item.counts.is_below_min_domains:
        few = f". The minimum is 0, because {count_noun(len(item.counts.domains), 'domain')} are fewer than minDomains"
    if item.skew is not None:
        skew = (
            f"Skew {item.skew}: the fullest domain has {item.counts.most}, the global minimum is "
            f"{item.counts.minimum}. At most {item.max_skew} is {'allowed' if is_hard else 'preferred'}{few}."
        )
    return Chart(
        f"{item.topology_key}, maxSkew {item.max_skew}, {item.when_unsatisfiable}"
        f"{' (default constraint)' if item.is_default else ''}",
        item.counts.domains,
        badge=(f"blocks {count_noun(blocked, 'pod')}", "bad") if blocked else BADGES[item.state],
        limit=None if item.skew is None else item.counts.minimum + item.max_skew,
        least=item.counts.minimum,
        is_hard=is_hard,
        skew=skew,
        reason=item.reason,
        words=("global minimum", "emptiest domain + maxSkew" if is_hard else "domains above it get a lower score"),
    )


def frames_of(moments: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the moments of a run, with the numbers of the domains in each `drawing`.

    A domain has one number in the whole run. `same`: numbers of those that look as one moment before.
    """
    numbers: dict[tuple[Optional[str], ...], int] = {}
    last: dict[int, DomainBox] = {}
    frames = []
    for moment in moments:
        boxes = {numbers.setdefault(box.names, len(numbers)): box for box in moment["drawing"].domains}
        unmarked = {
            number: box._replace(boxes=tuple(node._replace(is_marked=False) for node in box.boxes))
            for number, box in boxes.items()
        }
        same = {number for number, box in boxes.items() if box == unmarked[number] == last.get(number)}
        frames.append({**moment, "numbers": list(boxes), "same": same})
        last = unmarked
    return frames
