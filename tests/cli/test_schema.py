"""fictl schema: what is shipped for each document, by any spelling of its name."""

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator

from fictl.errors import CODES
from fictl.schemas import names, schema


def test_each_document_has_a_schema_that_is_one(fictl) -> None:
    answer = fictl("schema", "--json")
    assert answer.document["data"] == {"documents": names()}
    assert {"fictl.list", "fictl.cache.show", "fictl.schema"} < {*names()}
    for name in names():
        Draft202012Validator.check_schema(schema(name))


@pytest.mark.parametrize(
    "name", ["cache.show", "cache show", "fictl.cache.show", "fictl.cache.show/1"]
)
def test_a_document_is_named_by_its_command_or_its_schema(fictl, name: str) -> None:
    made = fictl("schema", name, "--json").document["data"]
    assert made["$id"] == "fictl.cache.show/1"
    codes = made["properties"]["error"]["anyOf"][0]["properties"]["code"]["enum"]
    assert codes == sorted(CODES)


@pytest.mark.parametrize(
    "name", ["cache.shw", "../errors", "/etc/passwd", "fictl.cache.show/2", "."]
)
def test_another_name_is_refused(fictl, name: str) -> None:
    answer = fictl("schema", name)
    assert answer.code == 2
    assert "there is no document" in answer.err
