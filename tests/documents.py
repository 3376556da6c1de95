"""Documents of --json as the tests see them: each is what its schema says."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from fictl.schemas import names, schema


def read_document(text: str) -> Any:
    """Read what a command printed; an AssertionError says where it differs from its schema."""
    document = json.loads(text)
    name = document["schema"].removesuffix("/1")
    # A command line that names no command has a document of its own.
    problems = [*_validator(name if name in names() else "fictl").iter_errors(document)]
    said = [f"{problem.json_path}: {problem.message}"[:400] for problem in problems]
    assert not said, f"{name}, whose schema `make pages` writes: {said}"
    return document


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(schema(name))
