"""The code of a definition that makes inputs which random numbers cannot be, as a trace has it."""

from __future__ import annotations

import ast
import re
import tempfile
from pathlib import Path

from fictl.errors import UsageError
from fictl.scaffold.new.defined.read import Defined
from fictl.scaffold.new.reference.reference import Reference
from fictl.scaffold.new.reference.source import FunctionSource, cut_out

# By their place: what an author calls them stays.
_TYPES = ("Mapping[str, int]", "torch.dtype", "str", "torch.Generator")
_MAPPING = "from collections.abc import Mapping"
_POINTS = re.compile(
    r"(^|_)(indptr|ind(ex|ices)|ids?|offsets?|tables?|lens?|lengths?|positions?)(_|$)"
)


def initial(defined: Defined, reference: Reference) -> Reference | None:
    """Write the definition's inputs as `_init`, beside the reference; shared code is there once."""
    text = defined.definition.init
    if text is None:
        return None
    tree = ast.parse(text)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if not functions:
        raise UsageError(f"{defined.path}: its init defines no function")
    node = functions[-1]
    with tempfile.TemporaryDirectory(prefix="fictl-definition-") as place:
        path = Path(place) / "init.py"
        path.write_text(text, encoding="utf-8")
        function = FunctionSource(path, node, tree)
        heads = [f"{a.arg}: {t}" for a, t in zip(node.args.args, _TYPES, strict=False)]
        source, imports = cut_out(function, heads, "dict[str, torch.Tensor]", {})
    named = re.sub(r"\b_reference\b", "_init", source)
    return Reference(_apart(defined, named, reference), (*imports, _MAPPING))


def unsaid(defined: Defined) -> list[str]:
    """Inputs that look like offsets or indices, and nothing says how they are made."""
    if defined.definition.init is not None:
        return []
    whole = (n for n, spec in defined.tensors.items() if spec.dtype in ("int32", "int64"))
    return [defined.argument(name) for name in whole if _POINTS.search(name)]


def _apart(defined: Defined, source: str, reference: Reference) -> str:
    """Drop what the reference defines, too."""
    there = {_name(node): ast.dump(node) for node in ast.parse(reference.source).body}
    kept = []
    for node in ast.parse(source).body:
        name = _name(node)
        if name and name in there:
            if there[name] != ast.dump(node):
                raise UsageError(
                    f"{defined.path}: init and reference define two different {name}",
                    "give one of them another name",
                )
            continue
        kept.append(ast.get_source_segment(source, node) or ast.unparse(node))
    return "\n\n\n".join(kept)


def _name(node: ast.stmt) -> str:
    return getattr(node, "name", "") or (ast.unparse(node) if isinstance(node, ast.Assign) else "")
