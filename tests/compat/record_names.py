"""Record where FlashInfer has its public names: python tests/compat/record_names.py WHEEL.

Below the modules of the first level there are those that fictl has or an engine reaches (engines.txt,
which record_engines.py writes first), and those that have a public name (public.txt) of their own.

The wheel (`pip download --no-deps flashinfer-python==0.7.2`) is read as text, by its syntax trees;
nothing of it is imported, and nothing but names is kept. A module has what it defines, what its
__all__ lists, and what it imports of FlashInfer's: a package all, another module what the package
`flashinfer` itself exports (engines import `get_seq_lens` from flashinfer.decode).
"""

from __future__ import annotations

import ast
import sys
import textwrap
import zipfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "fictl" / "compat" / "flashinfer"
NAMES = FOLDER / "names.txt"
# Below the modules of the first level, those of the families that fictl has.
DEEP = (
    "comm.cuda_ipc",
    "jit.activation",
    "jit.attention",
    "jit.cascade",
    "jit.core",
    "jit.env",
    "jit.norm",
    "jit.page",
    "jit.quantization",
    "jit.rope",
    "jit.sampling",
    "jit.topk",
    "jit.utils",
    "logits_processor.compiler",
    "logits_processor.fusion_rules",
    "logits_processor.legalization",
    "logits_processor.op",
    "logits_processor.operators",
    "logits_processor.pipeline",
    "logits_processor.processors",
    "logits_processor.types",
    "logits_processor.validators",
    "autotuner.autotuner",
    "quantization.fp4_quantization",
    "quantization.fp8_quantization",
    "quantization.packbits",
    "testing.utils",
    "trace.solution",
    "trace.template",
)
HEAD = """\
# Where FlashInfer {version} has its public names, a module a paragraph; "." is the package itself.
# Written by tests/compat/record_names.py from the wheel: names alone.
"""


def listed(file: str) -> set[str]:
    """Names of a recorded list: its lines that begin with two blanks."""
    lines = (FOLDER / file).read_text(encoding="utf-8").splitlines()
    return {name for line in lines if line.startswith("  ") for name in line.split()}


def places(package: Package) -> list[str]:
    """Modules to record, with those that lead to them."""
    wanted = {name for name in package.paths if "." not in name and not name.startswith("_")}
    wanted |= {*DEEP}
    for name in listed("engines.txt"):
        wanted |= {name, name.rpartition(".")[0]} & package.paths.keys()
    known = {name for module in wanted for name in package.names(module)}
    for public in listed("public.txt") - known:
        homes = [module for module in package.paths if public in package.names(module)]
        homes += [module for module in package.paths if module.rpartition(".")[2] == public]
        wanted |= {*sorted(homes, key=lambda home: (home.count("."), home))[:1]}
    above = {name.rsplit(".", up)[0] for name in wanted for up in range(name.count(".") + 1)}
    return [module for module in package.paths if module in above]


class Package:
    """The modules of FlashInfer in a wheel, by their names without the package's."""

    def __init__(self, wheel: zipfile.ZipFile) -> None:
        self._wheel = wheel
        self._every: dict[str, frozenset[str]] = {}
        self.paths: dict[str, str] = {}
        for path in sorted(wheel.namelist()):
            folder, _, file = path.removesuffix(".py").rpartition("/")
            if path.startswith("flashinfer/") and path.endswith(".py"):
                whole = folder if file == "__init__" else f"{folder}/{file}"
                self.paths[whole.replace("/", ".").partition(".")[2]] = path

    @cached_property
    def exported(self) -> set[str]:
        """What the package itself has, but its modules."""
        return self.names("") - {name.partition(".")[0] for name in self.paths}

    def names(self, module: str) -> set[str]:
        """What is public there: defined, listed in __all__, or brought from the package's own."""
        return {each for each in self.every(module) if each[0] != "_"}

    def every(self, module: str) -> frozenset[str]:
        """Return the same, with what is private."""
        if module not in self._every:
            body = ast.parse(self._wheel.read(self.paths[module])).body
            is_package = self.paths[module].endswith("/__init__.py")
            self._every[module] = frozenset(self._named(body, module, is_package))
        return self._every[module]

    def bound(self, module: str) -> set[str]:
        """The names that a module has after its import, wherever they are from."""
        nodes = [*ast.walk(ast.parse(self._wheel.read(self.paths[module])))]
        imports = (
            each for node in nodes if isinstance(node, ast.ImportFrom) for each in node.names
        )
        return {each.asname or each.name for each in imports} | self.every(module)

    def _named(self, body: list[ast.stmt], module: str, is_package: bool) -> Iterator[str]:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield node.name
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                yield from assigned(node)
            elif isinstance(node, ast.ImportFrom):
                yield from self._imported(node, module, is_package)
            else:
                for field in ("body", "orelse", "handlers", "finalbody"):
                    yield from self._named(getattr(node, field, []), module, is_package)

    def _imported(self, node: ast.ImportFrom, module: str, is_package: bool) -> Iterator[str]:
        above = module.split(".")[: None if is_package else -1][: None if node.level < 2 else -1]
        origin = ".".join(filter(None, [*above, node.module or ""]))
        for each in node.names:
            if each.name == "*" and node.level:
                yield from self.names(origin)
            elif node.level and node.module is None:
                continue  # A module, which is a paragraph of its own.
            elif not (node.level or (node.module or "").split(".")[0] == "flashinfer"):
                continue
            elif is_package or (each.asname or each.name) in self.exported:
                yield each.asname or each.name


def assigned(node: ast.Assign | ast.AnnAssign) -> Iterator[str]:
    """The names, and those that __all__ lists."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        if isinstance(target, ast.Name) and target.id != "__all__":
            yield target.id
        elif isinstance(target, ast.Name) and isinstance(node.value, ast.List | ast.Tuple):
            yield from (
                str(each.value) for each in node.value.elts if isinstance(each, ast.Constant)
            )


def every_name(path: Path) -> frozenset[str]:
    """Modules and their names, below `flashinfer.`."""
    with zipfile.ZipFile(path) as wheel:
        package = Package(wheel)
        names = (
            f"{module}.{name}".lstrip(".")
            for module in package.paths
            for name in package.every(module)
        )
        return frozenset((*package.paths, *names))


def record(path: Path) -> str:
    paragraphs = []
    reached = listed("engines.txt")
    with zipfile.ZipFile(path) as wheel:
        package = Package(wheel)
        for module in places(package):
            bound = {name for name in package.bound(module) if f"{module}.{name}" in reached}
            text = " ".join(sorted(package.names(module) | bound))
            lines = textwrap.wrap(text, 98, break_long_words=False, break_on_hyphens=False)
            paragraphs += [module or ".", *(f"  {line}" for line in lines)]
    return HEAD.format(version=path.name.split("-")[1]) + "\n".join(paragraphs) + "\n"


if __name__ == "__main__":
    NAMES.write_text(record(Path(sys.argv[1])), encoding="utf-8")
