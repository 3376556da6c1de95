"""The page of JSON documents: which there are, with which schema, and the codes of errors."""

from __future__ import annotations

from typing import Any

INTRO = """# JSON documents

Every command takes `--json` and prints one document on stdout; everything else goes to stderr.

```json
{"schema": "fictl.list/1", "ok": false, "data": null, "error": {"code": "usage", "message": "there is no op 'rmsnrm'", "hint": "did you mean 'rmsnorm'?"}}
```

- `schema` is the name of the document and its number. Within a number, fields may come; none goes or changes its meaning.
- `ok` is true if the exit code is 0. `data` is also there where something failed, as far as there is a result.
- `error.code` is one of the list below and stays, while messages and hints may be worded better. Errors of one module or case, inside of `data`, have the same three fields.

`fictl schema NAME` prints the JSON Schema (2020-12) of a document, and `fictl.schemas.schema(name)` returns it. The schemas are in the package:
they are inferred from the code that writes the documents, and each document of the test suite is compared with its schema.

```sh
fictl schema                          # all names
fictl schema cache.show               # one schema
```

## Codes of errors

| code | meaning |
|---|---|
"""


def page() -> str:
    from fictl.errors import CODES
    from fictl.schemas import names

    lines = [f"| `{code}` | {meaning} |" for code, meaning in CODES.items()]
    lines += ["", "## Documents", "", "| schema | command | what it does |", "|---|---|---|"]
    lines += [_row(name) for name in names() if name != "fictl"]
    return INTRO + "\n".join(lines) + "\n"


def _row(name: str) -> str:
    words = name.removeprefix("fictl.").split(".")
    link = f"cli.md#fictl-{'-'.join(words)}"
    return f"| `{name}/1` | [fictl {' '.join(words)}]({link}) | {_purpose(words)} |"


def _purpose(words: list[str]) -> str:
    from fictl.cli import application

    command: Any = application()
    for word in words:
        command = command.commands[word]
    first: str = (command.help or "").strip().partition("\n")[0]
    return first.replace("<", "&lt;").replace("|", "&#124;")
