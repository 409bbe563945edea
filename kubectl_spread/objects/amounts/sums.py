"""Rules of the scheduler's releases for adding up a pod's requests."""

from __future__ import annotations

from enum import Enum


class Sums(Enum):
    """The way to add up the requests of a pod's containers. Each name is the feature that its release introduced."""

    PER_CONTAINER = 1  # each amount rounded up; the overhead's CPU of a pod to be placed in whole cores
    WITHOUT_OVERHEAD = 2  # as PER_CONTAINER, and the overhead of a pod to be placed does not score
    EXACT = 3  # exact; for scores the containers and the init containers of a bound pod apart
    SIDECARS = 4  # the sidecars of bound pods count in scores
    RESIZED = 5  # a resize counts with the maximum of its requests
    POD_LEVEL = 6  # the pod's own resources come before those of its containers
