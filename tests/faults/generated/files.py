"""Bad files of a project and of an op, and links, FIFOs and devices in their places."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

from .bad_input import BadInput
from .values import ARCHS, mangled

KINDS = ("folder", "fifo", "loop", "dangling", "device", "socket", "binary", "sparse")
_OP = "kernels/elementwise/twice"
# Who reads which file of an op, at once.
_READERS = {
    "op.py": "where twice",
    "jit.py": "build twice --dry-run",
    "bench.py": "bench twice --dry-run",
    "trace.py": "trace list twice",
    "launcher.cu": "build twice --dry-run",
    "binding.cpp": "build twice --dry-run",
}
_COMMANDS = (
    "list",
    "check",
    "build twice --dry-run",
    "trace list twice",
    "cache explain",
    "bench --dry-run",
)
_HEADER = "kernels/include/tiny/elementwise/twice.cuh"

_IMPORTS = "from fictl.jit import JitSpec\nfrom fictl.op import module_spec\nfrom fictl.trace import Case\n"
_BODIES = (
    "return 1",
    "return None",
    "return 'twice'",
    "return {1: 2}",
    "yield 1",
    "yield None",
    "raise ValueError('mine')",
    "raise SystemExit(0)",
    "raise SystemExit('mine')",
    "raise BaseException('mine')",
    "raise GeneratorExit",
    "yield from {name}()",
    "return {name}()",
    "import nothing_of_this_name",
    "return 1 / 0",
    "yield object",
    "yield Case",
    "assert False",
    "return [[1]]",
    "return 5 < 'x'",
    "exec('(' * 300)",
    "import os; os.chdir('/nowhere')",
    "raise RuntimeError('two\\nlines')",
    "raise KeyError('\\udcff')",
    "raise MemoryError",
    "while True: yield {thing}",
    "return iter(int, 1)",
    "raise OSError(2, 'mine', 'x')",
)
_THINGS = {
    "aot": "module_spec(__file__)",
    "module": "1",
    "cases": "Case('twice', {'n': 1}, 'int32')",
}


def of_projects(random: Random) -> Iterator[BadInput]:
    texts = [
        "",
        "name",
        "name =",
        "name = 1",
        "name = ''",
        "name = 'my-ops'",
        "name = 'for'",
        "name = 'ｔｉｎｙ'",
        "name = 'fictl'",
        f"name = '{'x' * 300}'",
        "name = 'a'\nname = 'b'",
        "name = 'tiny'\nkernel = 'x'",
        "name = 'tiny'\nkernels = 3",
        "name = 'tiny'\nkernels = ''",
        "name = 'tiny'\nkernels = 'nowhere'",
        f"name = 'tiny'\nkernels = '{'x' * 300}'",
        "name = 'tiny'\narchs = 8.0",
        "name = 'tiny'\narchs = ','",
        "name = ['tiny']",
        "name = 'tiny'\ntemplates = 'x'",
        "name = 'tiny'\n[templates]\nop = 1",
        "\udcff",
        "name = 'tiny'\n[templates]\nkind = 'x'",
        "name = nan",
        "[name]",
        "name = {a = 1}",
        *(f"name = 'tiny'\narchs = {json.dumps(arch)}" for arch in random.sample(ARCHS, 10)),
    ]
    for text in texts:
        yield _of_project(("fictl.toml", "text", text + "\n"))
    for _ in range(15):
        text = "name = [[" + mangled(random, "'tiny'\narchs = '8.0'\n")
        yield _of_project(("fictl.toml", "text", text))
    for part, end in (("[", ""), ("x = [", ""), ("a.", "b = 1"), ("x = {y = ", "")):
        yield _of_project(("fictl.toml", "repeated", json.dumps([part, 100_000, end])))
    for kind in KINDS:
        yield _of_project(("fictl.toml", kind, ""))
    gone = ("fictl.toml", "gone", "")
    for text in ("[tool.fictl]\n", "[tool.fictl]\nname = 1\n", "tool.fictl = 3\n", "[tool.fictl\n"):
        yield _of_project(gone, ("pyproject.toml", "text", text))
    for kind in KINDS:
        yield BadInput("projects", ("where",), "either", files=(gone, ("pyproject.toml", kind, "")))
        for place in ("kernels", "kernels/elementwise", "kernels/include"):
            for words in (("list",), ("check",), ("build", "twice", "--dry-run")):
                yield BadInput("projects", words, "either", files=((place, kind, ""),))


def _of_project(*files: tuple[str, str, str]) -> BadInput:
    return BadInput(
        "projects", ("list",), "refused", (files[-1][0], "kernels", "xxxxx"), files=files
    )


def of_ops(random: Random) -> Iterator[BadInput]:
    """Every file of an op, being something else."""
    for name, reader in _READERS.items():
        for kind in KINDS:
            file = (f"{_OP}/{name}", kind, "")
            # Of a compiler's input the compiler says what is wrong with its bytes.
            wants = "either" if kind == "binary" and not name.endswith(".py") else "refused"
            yield BadInput("ops", tuple(reader.split()), wants, (name, "twice"), files=(file,))
            words = random.choice(_COMMANDS).split()
            yield BadInput("ops", tuple(words), "either", files=(file,))
    for kind in KINDS:
        for words in random.sample(_COMMANDS, 3):
            yield BadInput("ops", tuple(words.split()), "either", files=((_HEADER, kind, ""),))
    for name in ("op.py", "jit.py", "bench.py", "trace.py"):
        for part, end in (
            ("(", ""),
            ("-", "1"),
            ("x + ", "x"),
            ("[", ""),
            ("a.", "b"),
            ("not ", "x"),
        ):
            file = (
                f"{_OP}/{name}",
                "repeated",
                json.dumps([part, random.choice((400, 100_000)), end]),
            )
            words = tuple(_READERS[name].split())
            yield BadInput("ops", words, "refused", (name, "twice"), files=(file,))


def of_code(random: Random) -> Iterator[BadInput]:
    """What an author writes: in the functions that ops have, and beside them."""
    for function, file, reader in (
        ("aot", "jit.py", "build twice --dry-run"),
        ("aot", "jit.py", "cache explain twice"),
        ("cases", "bench.py", "bench twice --dry-run"),
        ("cases", "bench.py", "trace export --dry-run"),
    ):
        for body in _BODIES:
            said = body.replace("{name}", function).replace("{thing}", _THINGS[function])
            text = f"{_IMPORTS}def module(): return module_spec(__file__)\ndef {function}():\n    {said}\n"
            yield _of_code(file, text, reader)
    for body in random.sample(_BODIES, 12):
        if "yield" not in body and "{name}" not in body:
            text = f"{_IMPORTS}def module():\n    {body}\ndef aot():\n    yield module()\n"
            yield _of_code("jit.py", text, "build twice --dry-run")
    for file in ("jit.py", "bench.py"):
        for line in (
            "raise SystemExit(0)",
            "raise BaseException('mine')",
            "1 / 0",
            "import nowhere_",
            "x =",
        ):
            yield _of_code(file, f"{line}\n", _READERS[file])


def _of_code(file: str, text: str, reader: str) -> BadInput:
    return BadInput(
        "code",
        tuple(reader.split()),
        "refused",
        (f"{file}:",),
        files=((f"{_OP}/{file}", "text", text),),
    )


def of_declarations(random: Random) -> Iterator[BadInput]:
    """What `@op` says of an op, which is read without running it."""
    said = {"archs": '">=8.0"', "dtypes": '"i32"', "devices": '"cuda emu"', "mutates": '""'}
    wrong = {
        "archs": [
            '""',
            "8.0",
            "None",
            "f'8.0'",
            *(json.dumps(arch) for arch in random.sample(ARCHS, 14)),
        ],
        "dtypes": ['"f99"', "1", '"f16,bf16"', "['f16']", '"ｆ16"'],
        "devices": ['"gpu"', '"cuda, emu"', "1", '"ｅｍｕ"'],
        "mutates": ['"nope"', "None", "[]", '"in put"'],
        "uses": ["1", "None"],
        "settings": ["1", "[]", '"x"'],
        "backends": ["1", '{"a": "9.0"}'],
        "nope": ["1"],
        "_": ["**{}"],
    }
    for key, values in wrong.items():
        for value in values:
            words = ", ".join(f"{n}={v}" for n, v in {**said, key: value}.items() if n != "_")
            words += ", **{'a': 1}" if key == "_" else ""
            text = f"from fictl.op import op\n@op({words})\ndef twice(input: int) -> int:\n    return 1\n"
            file = (f"{_OP}/op.py", "text", text)
            yield BadInput("declarations", ("list",), "refused", ("op.py:",), files=(file,))
