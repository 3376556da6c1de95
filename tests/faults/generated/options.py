"""Bad inputs by option, found by walking the app: no option can be forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from fictl.cli import application
from fictl.cli.numbers import Range

from .bad_input import BadInput
from .values import ARCHS, chosen, mangled, numbers, texts, unreadable

# What each command is called with beside the option; it ends within a moment, whatever comes of it.
_CALLS = {
    "init": "made --dry-run",
    "new-op": "fresh --expr x*2 --dry-run",
    "export-op": "twice taken",
    "rename-op": "twice thrice --dry-run",
    "remove-op": "twice --dry-run",
    "upgrade": "--dry-run",
    "list": "twice",
    "where": "twice",
    "check": "twice",
    "build": "twice --dry-run",
    "test": "twice --device=cuda",
    "bench": "twice --dry-run",
    "compare": "documents/a.json documents/b.json",
    "history": "twice --dry-run",
    "watch": "nothing --once",
    "tune": "twice --dry-run --device=cuda",
    "profile": "twice --dry-run",
    "profile-diff": "documents/nothing.json documents/nothing.json",
    "sanitize": "twice --device=cuda",
    "inspect": "documents/a.json",
    "replay": "documents",
    "debug": "twice --device=cuda --dry-run",
    "compile-commands": "twice --dry-run",
    "trace list": "twice",
    "trace export": "twice --dry-run",
    "trace check": "twice",
    "trace run": "documents/nothing.json",
    "solution build": "documents/nothing.json",
    "solution run": "documents/nothing.json",
    "solution export": "twice --dry-run",
    "solution profile": "documents/nothing.json",
    "solution sanitize": "documents/nothing.json",
    "dataset validate": "documents",
    "dataset run": "documents --dry-run",
    "dataset report": "documents",
    "dataset export": "twice --dry-run",
    "dataset collect": "documents --dry-run",
    "warmup record": "true --dry-run",
    "warmup build": "documents/nothing.jsonl --dry-run",
    "cache show": "twice",
    "cache explain": "twice",
    "cache gc": "--dry-run",
    "cache clear": "twice --dry-run",
    "aot build": "twice --dry-run --out=built",
    "aot verify": "documents",
    "aot wheel": "twice --dry-run --out=built",
    "aot sbom": "documents",
    "artifacts build": "frozen twice --dry-run",
    "artifacts push": "frozen --to=documents --dry-run",
    "artifacts pull": "frozen --from=documents --dry-run",
    "artifacts list": "documents",
    "artifacts verify": "documents",
    "artifacts mirror": "documents mirrored --dry-run",
    "artifacts lock": "frozen --dry-run",
    "artifacts sbom": "frozen",
    "cache push": "twice --to=documents --dry-run",
    "cache pull": "twice --dry-run",
    "trust new-key": "made.key --dry-run",
    "trust add": "somebody nothing --dry-run",
    "trust remove": "somebody --dry-run",
    "skills install": "--dry-run",
    "mcp": "--list",
    "farm check": "documents/nothing.toml",
    "farm init": "--dry-run",
    "farm up": "--dry-run",
    "farm down": "--dry-run",
    "compat list": "rope",
    "compat wheel": "--dry-run",
}
# They take seconds, or run others: their options are the others', or none.
_LEFT_OUT = {"doctor", "demo"}

# Values that the option cannot have, in words of its own.
_WRONG: dict[str, tuple[str, ...]] = {
    "--arch": ARCHS,
    "--archs": ARCHS,
    "--device": ("gpu", "cuda:0", "cuda,emu", "ｃｕｄａ", "tpu", "1"),
    "--dtype": ("f99", "float", "bf", "ｆ16", "int", "[f16]"),
    "--dtypes": ("f99", "f16,f99", "bf", ";"),
    "--timer": ("clock", "CUPTI2", "auto,cupti"),
    "--threshold": ("0", "-1%", "100%", "nan", "inf%", "1%%", "%", "１%", "1e400", "one"),
    "--max-size": ("-1G", "1X", "G", "nan", "inf", "１G", "1e9", "9" * 400 + "T"),
    "--older-than": ("-1d", "1", "1y", "d", "nand", "infd", "１d", "9" * 400 + "w"),
    "--ray": ("host", "host:99999", "a b:1", "auto", "-x:1", "http://host:1", "host:１"),
    "--checks": ("nope", "layout,nope", "Layout2"),
    "--kind": ("elementwisee", "../x", "kind"),
    "--schedule": ("sideways", "random-", "random-x", "random-１", "forward,reverse"),
    "--axis": (
        "n",
        "n=",
        "=1",
        "n=x",
        "n=１",
        "n=5:1",
        "n=1:9:0",
        "n=0:9:*2",
        "n=-1",
        "1n=2",
        "n=1:99999999",
        "n=" + "9" * 30,
        "n=1.5",
        "n=1e3",
    ),
    "--author": ("a/b", "../x", "a" * 65, "é", "-", "a b", "a\\b", ".."),
    "--input": (
        "x",
        "x:",
        ":n",
        "nan:n",
        "true:n",
        "class:n",
        "x:n:f99",
        "x:n=0",
        "x:n=９",
        "x:n=-1",
        "x:1n",
        "x" * 300 + ":n",
        "x:" + "n" * 300,
        "len:n",
        "int:n",
        "x:n:n:n",
        "__x:n",
        "x y:n",
        "x:for",
        "x:n=" + "9" * 40,
    ),
    "--scalar": (
        "nan:float",
        "true:bool=1",
        "s:float=nan",
        "s:float=inf",
        "s:int=1.5",
        "s:int=１",
        "s:bool=maybe",
        "s:double=1",
        "class:int",
        "s:int=" + "9" * 40,
        "s:float=1e400",
        "s" * 300,
        "1s:int",
        "inf",
        "while:int=1",
    ),
    "--output": ("y", "y:", ":n", "nan:n", "y:zzz", "import:n", "y" * 300 + ":n", "y:n:f99"),
    "--expr": (
        "x +",
        "nope(x)",
        "x if",
        "lambda: x",
        "x; y",
        "__import__('os')",
        "x.y",
        "x[0]",
        "'x'",
        "x" + " + x" * 2000,
        "(" * 2000 + "x" + ")" * 2000,
        "-" * 2000 + "x",
        "sin(" * 150 + "x" + ")" * 150,
        "x**" * 500 + "x",
        "x := 1",
        "[x for x in y]",
        "x, x",
        "x @ x",
        "not x",
        "x + １１ + é",
    ),
    "--gate": ("registers", "nope<=1", "registers<=nan", "registers<=１", "registers=<1", "<=1"),
    "--block": ("x", "1,2,3,4", "-1", "１", "1,,2", "nan", "9" * 40),
    "--thread": ("x", "1,2,3,4", "-1", "１", "1;2", "inf", "9" * 40),
    "--under": ("nope", "memchek", "memcheck,racecheck"),
    "--format": ("pdf", "MD", "html5"),
}
# Where a wrong value of theirs is met only by what cannot run here, or is a name that may exist.
_ONLY_THERE = {
    ("inspect", "--gate"),
    ("debug", "--dtype"),
    ("debug", "--axis"),
    ("watch", "--dtype"),
    ("tune", "--dtype"),
    ("compare", "--dtype"),
    ("compare", "--timer"),
    ("init", "--archs"),
    ("profile", "--dtype"),
    ("bench", "--timer"),
    ("test", "--schedule"),
}
_PLACES = ("folder", "fifo", "dangling", "loop", "device", "socket")
_NO_PLACE = ("/proc/nothing", "/dev/full", "/dev/null", "/sys/nothing", "/proc/self/mem")


def parameters() -> Iterator[tuple[str, Any]]:
    """Every parameter of every command, by the words that call it."""

    def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, (*path, name))
        if not hasattr(command, "commands"):
            yield from ((" ".join(path), each) for each in command.params)

    return walk(application(), ())


def options() -> Iterator[tuple[str, str, Any]]:
    for command, each in parameters():
        if each.param_type_name == "option" and command not in _LEFT_OUT:
            yield command, next((o for o in each.opts if o.startswith("--")), each.opts[0]), each


def range_of(parameter: Any) -> Range | None:
    found = getattr(parameter.type, "func", None)
    return found if isinstance(found, Range) else None


def is_path(parameter: Any) -> bool:
    return parameter.type.name in ("path", "file", "directory")


def is_text(parameter: Any) -> bool:
    return range_of(parameter) is None and parameter.type.name in ("text", "str")


def _call(command: str, option: str, value: str) -> tuple[str, ...]:
    """The option stands first: what it is set to again comes later, and is the one that counts."""
    given = (f"{option}={value}",) if option.startswith("--") else (option, value)
    rest = [word for word in _CALLS.get(command, "").split() if not word.startswith(f"{option}=")]
    return (*command.split(), *rest, *given)


def of_numbers(random: Random) -> Iterator[BadInput]:
    for command, option, each in options():
        limits = range_of(each)
        if limits is not None:
            for value in numbers(random, limits.low, limits.high, limits.whole, 6):
                yield BadInput("numbers", _call(command, option, value), "refused", (option,))


def of_texts(random: Random) -> Iterator[BadInput]:
    for command, option, each in options():
        if not is_text(each):
            continue
        for value in unreadable(random, 1):
            yield BadInput("texts", _call(command, option, value), "refused", (option,))
        for value in texts(random, 1):
            yield BadInput("texts", _call(command, option, value), "either")


def of_wrong_values(random: Random) -> Iterator[BadInput]:
    for command, option, each in options():
        if is_text(each) and option in _WRONG and (command, option) not in _ONLY_THERE:
            for value in chosen(random, _WRONG[option], 5):
                words = _call(command, option, value)
                if command == "new-op" and option != "--expr":
                    words = tuple(word for word in words if word != "--expr")
                yield BadInput("values", words, "refused")


def of_arguments(random: Random) -> Iterator[BadInput]:
    for command in dict.fromkeys(command for command, _ in parameters()):
        if command in _LEFT_OUT:
            continue
        begun = (*command.split(), *_CALLS.get(command, "").split())
        yield BadInput("arguments", (*begun, "--no-such-option"), "refused", ("--no-such-option",))
        yield BadInput("arguments", (*begun, "--json=1"), "refused", ("--json",))
        name = mangled(random, "twice") or "x"
        yield BadInput("arguments", (*command.split(), name), "either")
        drawn = (*unreadable(random, 1), *texts(random, 2))
        for word in (each for each in drawn if each != "--"):  # That names no op: all are meant.
            yield BadInput("arguments", (*command.split(), word), "either")


def of_paths(random: Random, places: str) -> Iterator[BadInput]:
    """Options and arguments that name a file or a folder."""
    known = ["x" * 300, *_NO_PLACE, *(f"{places}/{name}" for name in _PLACES), f"{places}/file/x"]
    for command, each in parameters():
        if not is_path(each) or command in _LEFT_OUT:
            continue
        for value in random.sample(known, 4):
            if each.param_type_name == "option":
                words = _call(command, next(o for o in each.opts if o.startswith("--")), value)
                folder = value.endswith("/folder")
                yield BadInput("paths", words, "either" if folder else "refused")
            elif not value.endswith("/folder"):
                yield BadInput("paths", (*command.split(), value), "either")
