"""`--corpus DIR` replays the recordings of another folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import RECORDINGS as OF_THE_SCHEDULER
from tests.karpenter import replay


@pytest.fixture(scope="session")
def corpus(pytestconfig: pytest.Config) -> Path:
    """The folder with recordings of Karpenter."""
    given: Path = pytestconfig.getoption("--corpus")
    return replay.RECORDINGS if given == OF_THE_SCHEDULER else given
