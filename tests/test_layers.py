"""The rules of the code, held by reading it: who imports whom, what happens where, names, sizes."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[1]

# Imports go one way: a part of fictl sees the parts above its layer, and the siblings named here.
LAYERS = [
    {"arch", "child", "dtype", "errors", "lazy", "log", "owners", "paths"}
    | {"printable", "private_folder", "process", "project_file", "sealed", "syntax"}
    | {"quantity", "rank_settings", "redact", "removal", "rooted", "schemas"}
    | {"setting", "settings", "settings_file", "setting_values", "sharing_settings"}
    | {"toml_text", "user_file", "version"},
    {"project", "trace", "timing", "power", "scaffold", "toolchain", "translate"}
    | {"trust", "emu", "jit"},
    {"op"},
    {"builds", "case", "comm", "gpu_lock", "ranks", "report", "plot"},
    {"runnable", "tune", "bench", "testing", "profile", "sanitize", "doctor", "ship"}
    | {"replay", "inspect", "watch", "debug", "judge", "farm", "dataset", "warmup"}
    | {"apply", "tracing", "integration"},
    {"compat", "kernels", "ops"},
    {"cli"},
    {"__init__", "__main__", "compile"},
]
SIBLINGS = {
    "emu": {"toolchain"},
    "timing": {"toolchain"},
    "comm": {"ranks"},
    "power": {"timing"},
    "scaffold": {"project", "translate", "trace"},
    "jit": {"toolchain", "emu", "project", "trust"},
    "sanitize": {"testing"},
    "replay": {"sanitize", "profile"},
    "watch": {"bench"},
    "judge": {"runnable", "profile", "sanitize"},
    "farm": {"judge", "bench", "tune"},
    "dataset": {"judge", "farm"},
    "apply": {"runnable", "judge", "tracing"},
    "tracing": {"replay"},
    "integration": {"apply", "runnable", "tracing"},
} | {name: layer for layer in (LAYERS[0], LAYERS[-1]) for name in layer}

VOCABULARY = LAYERS[0]
LEAN = VOCABULARY | {"project", "toolchain", "jit", "cli"}
HEAVY = {"torch", "jinja2", "git", "pydantic"}

AUTHORS_IMPORT = {"op", "jit", "trace", "bench", "comm"}
READ_THE_ENVIRONMENT = {"fictl/setting.py", "fictl/settings.py", "fictl/process.py"}
NO_NAMES = {"utils", "util", "helpers", "helper", "common", "base", "core", "manager", "misc"}
LONGEST = {".py": 400, ".cuh": 600}
LONGEST_FUNCTION = 60


def files(*folders: str, suffixes: Iterable[str] = (".py",)) -> list[Path]:
    found = (path for folder in folders for path in (ROOT / folder).rglob("*"))
    return sorted(path.relative_to(ROOT) for path in found if path.suffix in suffixes)


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"), str(path))


def nodes(path: Path) -> Iterator[ast.AST]:
    return ast.walk(parse(path))


def at_import(node: ast.AST) -> Iterator[ast.AST]:
    """What runs when a module is imported: all but functions and what only type checkers read."""
    for child in ast.iter_child_nodes(node):
        checked_only = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
        if not checked_only and not isinstance(
            child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
        ):
            yield child
            yield from at_import(child)


def imported(path: Path, among: Iterable[ast.AST]) -> Iterator[tuple[str, ...]]:
    """Full names, split at the dots: `from fictl import settings` is fictl.settings."""
    for node in among:
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = path.parts[: -node.level] if node.level else ()
            origin = (*above, *(node.module.split(".") if node.module else ()))
            yield from ((*origin, alias.name) for alias in node.names)


def part(path: Path) -> str:
    """The package or root module of fictl that a file belongs to."""
    return path.with_suffix("").parts[1]


def visible(name: str) -> set[str]:
    """The parts of fictl that the part `name` may import."""
    depth = next((depth for depth, layer in enumerate(LAYERS) if name in layer), None)
    assert depth is not None, f"fictl/{name} is in no layer: give it a place in LAYERS"
    return {name}.union(SIBLINGS.get(name, ()), *LAYERS[:depth])


def shipped_names() -> set[str]:
    """The public functions of the ops."""
    return {
        node.name
        for path in files("kernels")
        if path.name == "op.py"
        for node in parse(path).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.decorator_list
    }


def test_imports_go_one_way() -> None:
    assert not [
        f"{path} imports {'.'.join(name)}"
        for path in files("fictl")
        for name in imported(path, nodes(path))
        if name[0] == "fictl" and name[1] not in visible(part(path))
    ]


def package(path: Path) -> str:
    """The package of fictl or family of kernels that a file belongs to; root files are one room."""
    return "/".join(path.parts[:2]) if len(path.parts) > 2 else path.parts[0]


def module_name(path: Path) -> tuple[str, ...]:
    """The name that imports a file; a package is its `__init__`."""
    names = path.with_suffix("").parts
    return names[:-1] if names[-1] == "__init__" else names


def imports_among(paths: Iterable[Path]) -> dict[Path, set[Path]]:
    """Each file's imports of the others, those inside functions and for type checkers included."""
    by_name = {module_name(path): path for path in paths}
    return {
        path: {
            by_name[known]
            for name in imported(path, nodes(path))
            for known in (name if name in by_name else name[:-1],)
            if known in by_name and by_name[known] != path
        }
        for path in by_name.values()
    }


def circle(graph: dict[Path, set[Path]]) -> list[Path]:
    """Some files of which each imports the next and the last the first; empty if there are none."""
    done: set[Path] = set()

    def search(way: list[Path]) -> list[Path]:
        for target in sorted(graph[way[-1]] - done):
            if target in way:
                return way[way.index(target) :]
            if closed := search([*way, target]):
                return closed
        done.add(way[-1])
        return []

    return next((closed for path in sorted(graph) if (closed := search([path]))), [])


def test_no_circle_inside_a_package() -> None:
    """Files that import each other in a loop can only be understood together."""
    packages: dict[str, list[Path]] = {}
    for path in files("fictl", "kernels"):
        packages.setdefault(package(path), []).append(path)
    circles = {name: circle(imports_among(paths)) for name, paths in packages.items()}
    assert not [
        f"{name}: " + " -> ".join(map(str, (*closed, closed[0])))
        for name, closed in circles.items()
        if closed
    ]


def test_a_circle_is_seen_and_shown() -> None:
    a, b, c, d = (Path(f"{name}.py") for name in "abcd")
    assert circle({a: {b}, b: {c, d}, c: {b}, d: set()}) == [b, c]
    assert circle({a: {b, c}, b: {d}, c: {d}, d: set()}) == []


def test_no_part_may_import_what_it_does_not() -> None:
    used = {
        (part(path), name[1])
        for path in files("fictl")
        for name in imported(path, nodes(path))
        if name[0] == "fictl" and len(name) > 1
    }
    shared = {*LAYERS[0], *LAYERS[-1]}
    assert not [
        f"SIBLINGS lets {name} import {other}, which it does not: remove it"
        for name, others in SIBLINGS.items()
        for other in others
        if name not in shared and (name, other) not in used
    ]


def test_what_the_command_line_loads_is_light() -> None:
    assert not [
        f"{path} imports {name[0]} at module level"
        for path in files("fictl")
        for name in imported(path, at_import(parse(path)))
        if part(path) in LEAN and name[0] in HEAVY
    ]


def test_the_vocabulary_needs_the_standard_library_only() -> None:
    """setup.py asks it for the version and the commit, where nothing is installed yet."""
    assert not [
        f"{path} imports {name[0]} at module level"
        for path in files("fictl")
        for name in imported(path, at_import(parse(path)))
        if part(path) in VOCABULARY and name[0] not in {"fictl", *sys.stdlib_module_names}
    ]


def test_an_op_imports_only_what_its_author_may() -> None:
    """Of another family, public functions: `fictl check` holds that `uses=` says so."""
    assert not [
        f"{path} imports {'.'.join(name)}"
        for path in files("kernels")
        for name in imported(path, nodes(path))
        if (name[0] == "fictl" and name[1] not in AUTHORS_IMPORT)
        or (name[0] == "kernels" and name[1] != path.parts[1] and name[-2] != "op")
    ]


def test_the_tool_names_no_op() -> None:
    # A name that torch has as well, as softmax or all_gather, is torch's in the tool.
    names = shipped_names() - {*dir(torch), *dir(torch.distributed)}
    assert not [
        f"{path}:{node.lineno} names {ast.unparse(node)}"
        for path in files("fictl")
        for node in nodes(path)
        if (isinstance(node, ast.Constant) and node.value in names)
        or (
            isinstance(node, ast.Attribute)
            and node.attr in names
            and "ops" in ast.unparse(node.value)
        )
    ]


def test_nothing_happens_at_import() -> None:
    """A bare call at module level is made for its effect; only the entry points make one."""
    assert not [
        f"{path}:{node.lineno} {ast.unparse(node)}"
        for path in files("fictl", "kernels")
        for node in at_import(parse(path))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and not ast.unparse(node).startswith(("app.", "sys.exit(main("))
    ]


def test_the_environment_is_read_in_one_place() -> None:
    """Elsewhere it is handed on whole, to a child process: {**os.environ, …}."""
    assert not [
        f"{path}:{node.lineno} {ast.unparse(node)}"
        for path in files("fictl", "kernels")
        if str(path) not in READ_THE_ENVIRONMENT
        for node in nodes(path)
        if isinstance(node, ast.Attribute | ast.Subscript)
        and ast.unparse(node).startswith(("os.environ.", "os.environ[", "os.getenv", "os.putenv"))
    ]


def test_what_cannot_be_looked_at_is_not_there() -> None:
    """Path.is_file, exists and glob raise where a folder may not be searched, as one on PATH may be:
    those of os.path and of paths.py do not.
    """
    looks = {"is_file": 0, "is_dir": 0, "exists": 0, "glob": 1, "rglob": 1}
    assert not [
        f"{path}:{node.lineno} {ast.unparse(node)}"
        for path in files("fictl", "kernels")
        for node in nodes(path)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and looks.get(node.func.attr) == len(node.args) + len(node.keywords)
    ]


def test_only_the_command_line_prints() -> None:
    assert not [
        f"{path}:{node.lineno} {ast.unparse(node)}"
        for path in files("fictl", "kernels")
        for node in nodes(path)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in {"print", "sys.stdout.write", "sys.stderr.write"}
        and part(path) != "cli"
    ]


def test_a_folder_of_commands_is_a_group() -> None:
    """The parts of a flat command `x` are in `_x/`; a folder without underscore lists commands."""
    folders = sorted(
        path for path in (ROOT / "fictl/cli").iterdir() if (path / "__init__.py").is_file()
    )
    assert not [
        folder.name
        for folder in folders
        if not folder.name.startswith("_")
        and "COMMANDS" not in (folder / "__init__.py").read_text(encoding="utf-8")
    ]
    parts = [folder for folder in folders if folder.name.startswith("_")]
    assert not [p.name for p in parts if not p.with_name(f"{p.name[1:]}.py").is_file()]


def commands() -> Iterator[tuple[Path, ast.FunctionDef]]:
    for path in files("fictl/cli"):
        for node in parse(path).body:
            if isinstance(node, ast.FunctionDef) and node.name == "command":
                yield path, node


def test_a_command_parses_calls_once_and_shows() -> None:
    """Loops that wait or survive errors, and the writing of files, are below it."""
    writes = {"mkdir", "write_text", "write_bytes", "open"}
    assert not [
        f"{path}:{node.lineno} {type(node).__name__}"
        for path, _ in commands()
        for node in nodes(path)
        if isinstance(node, ast.While)
        or (
            isinstance(node, ast.For)
            and any(isinstance(inner, ast.Try | ast.With) for inner in ast.walk(node))
        )
    ]
    assert not [
        f"{path}:{node.lineno} {ast.unparse(node)}"
        for path, command in commands()
        for node in ast.walk(command)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in writes
    ]


def test_files_are_named_for_what_they_hold() -> None:
    suffixes = (".py", ".cu", ".cuh", ".h", ".cpp")
    named = files("fictl", "kernels", "templates", "tests", suffixes=suffixes)
    ours = [path for path in named if path.parts[:2] != ("fictl", "compat")]  # others chose those
    assert not [str(path) for path in ours if path.stem in NO_NAMES]


def test_the_kernels_folder_is_no_package() -> None:
    # Why: fictl/kernels.py mounts it; as a package it would shadow the `kernels` of others.
    assert not (ROOT / "kernels" / "__init__.py").exists()


def test_files_are_short() -> None:
    paths = files("fictl", "kernels", "templates", "tests", suffixes=LONGEST)
    lines = {path: (ROOT / path).read_text(encoding="utf-8").count("\n") for path in paths}
    assert not [f"{path}: {n} lines" for path, n in lines.items() if n > LONGEST[path.suffix]]


def test_functions_are_short() -> None:
    assert not [
        f"{path}:{node.lineno} {node.name}"
        for path in files("fictl", "kernels", "tests")
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef) and lines_of_code(node) >= LONGEST_FUNCTION
    ]


def lines_of_code(function: ast.FunctionDef) -> int:
    """Below its signature and its docstring, which may have a line for each of many arguments."""
    first = function.body[min(bool(ast.get_docstring(function)), len(function.body) - 1)]
    return (function.end_lineno or 0) - first.lineno


def test_import_fictl_imports_nothing_else_of_it() -> None:
    code = "import sys, fictl; print([name for name in sys.modules if name.startswith('fictl.')])"
    assert output_of(code) == "[]"


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import atexit, sys\n"
        f"atexit.register(lambda: print('loaded', sorted({HEAVY} & set(sys.modules))))\n"
        "sys.argv = ['fictl', '--help']\n"
        "from fictl.cli import main\n"
        "main()"
    )
    assert output_of(code).endswith("loaded []")


def output_of(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
