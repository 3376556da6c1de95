"""Documents of --json as the tests see them: each is what its schema says."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from fictl.schemas import names, schema


def read_document(text: str) -> Any:
    """Read what a command printed; an AssertionError says where it differs from its schema."""
    document = json.loads(text)
    name = document["schema"].removesuffix("/1")
    # A command line that names no command has a document of its own.
    problem = best_match(_validator(name if name in names() else "fictl").iter_errors(document))
    assert problem is None, (
        f"{name}: {problem.json_path}: {problem.message[:400]}; `make pages` writes its schema"
    )
    return document


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(schema(name))
