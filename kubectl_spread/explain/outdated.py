"""Whether the scheduler's last words still hold, and if not, what may have made the difference."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple
from typing import Optional
from typing import TYPE_CHECKING

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.explain.explanation import Explanation
from kubectl_spread.explain.explanation import PodVerdict
from kubectl_spread.explain.reported import Changes
from kubectl_spread.explain.reported import LastWords
from kubectl_spread.objects.storage import Storage

if TYPE_CHECKING:  # hundreds of regular expressions
    from kubectl_spread.messages.parse import Era


class Standing(Enum):
    """How the last words compare with what would be written now."""

    SAME = "same"
    OLD_NEWS = "oldNews"  # the pod has its node since
    OUTDATED = "outdated"  # something changed since
    DIFFERENT = "different"  # nothing is known to have changed


class Comparison(NamedTuple):
    """The scheduler's last words beside those of now.

    numbers: what differs, in one sentence. changed: what the facts hold that is younger. limits: what may make the
    difference where nothing is known to have changed.
    """

    standing: Standing
    numbers: str = ""
    changed: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()


def comparison(
    explanation: Explanation, words: LastWords, changes: Changes, cluster: Cluster, minor: int
) -> Optional[Comparison]:
    """Compare the scheduler's last words with now; None where it left none.

    Args:
        explanation: of the pod, now.
        words: what the facts say the scheduler wrote last.
        changes: what is younger than that.
        cluster: the facts.
        minor: whose rules are followed: 36 for 1.36.
    """
    if not words.message:
        return None
    if explanation.pod.node_name:
        return Comparison(Standing.OLD_NEWS)
    if explanation.message == words.message:
        return Comparison(Standing.SAME)
    return _compared(explanation, words, changes, cluster, minor)


def _compared(explanation: Explanation, words: LastWords, changes: Changes, cluster: Cluster, minor: int) -> Comparison:
    """What stands of words that are not those of now."""
    from kubectl_spread.messages import compare
    from kubectl_spread.messages.compare import ComparisonResult

    told = compare.compare(words.message, explanation.message) if explanation.message else None
    if told is not None and told.outcome in (ComparisonResult.SAME, ComparisonResult.SAME_BUT_WORDING):
        return Comparison(Standing.SAME, _era(words.message, minor))
    numbers = "" if told is None else compare.sentence(told)
    changed = tuple(_changed(changes))
    then, now = _total(words.message), len(cluster.nodes)
    if explanation.verdict is PodVerdict.WAITS_FOR_PREEMPTION:
        changed = (*(f"pod {victim.key} was evicted to make room" for victim in explanation.victims), *changed)
    if then is not None and then != now:
        changed = (f"the number of nodes was {then} and is {now}", *changed)
    if changed:
        return Comparison(Standing.OUTDATED, numbers, changed)
    return Comparison(Standing.DIFFERENT, numbers, (), tuple(_limits(explanation, words, cluster, minor)))


def _total(message: str) -> Optional[int]:
    """How many nodes the scheduler knew when it wrote a message; None where that is not said."""
    from kubectl_spread.messages.parse import parse

    return parse(message).total


def _changed(changes: Changes) -> list[str]:
    found = []
    for names, one, many in (
        (changes.nodes, "node {} was created", "{} nodes were created"),
        (changes.placed, "pod {} was created and has a node", "{} pods were created and have nodes"),
        (changes.deleted, "pod {} was deleted", "{} pods were deleted"),
    ):
        if names:
            found.append(one.format(names[0]) if len(names) == 1 else many.format(len(names)))
    return found


def _era(message: str, minor: int) -> str:
    """That other words mean the same."""
    era = _era_of(message)
    if era is None or era.first <= minor <= era.last:
        return "in other words"
    return f"in the words of another release ({_releases(era)}, where the rules of 1.{minor} are followed)"


def _era_of(message: str) -> Optional[Era]:
    from kubectl_spread.messages.parse import parse

    return parse(message).era


def _releases(era: Era) -> str:
    return f"1.{era.first}" if era.first == era.last else f"1.{era.first} to 1.{era.last}"


def _limits(explanation: Explanation, words: LastWords, cluster: Cluster, minor: int) -> list[str]:
    """What is not known here and may decide."""
    found = []
    era = _era_of(words.message)
    if era is not None and not era.first <= minor <= era.last:
        found.append(
            f"the message is in the words of {_releases(era)}, and the rules of 1.{minor} are followed "
            "(--kubernetes-version)"
        )
    if explanation.pod.cls.volumes and cluster.storage == Storage():
        found.append("the pod has volumes, and the facts hold no claims or volumes")
    if any(pod.nominated_node for pod in cluster.pending()):
        found.append("pods are nominated to nodes, which counts only while the scheduler remembers it")
    found.append("the scheduler's configuration and plugins may differ from what is assumed (--scheduler-config)")
    found.append("pods that were placed or went in the meantime leave no trace in the facts")
    return found
