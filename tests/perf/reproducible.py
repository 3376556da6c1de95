"""Proof that release builds are reproducible: all that can differ between two machines, differs.

python tests/perf/reproducible.py [OP ...] [--arch 9.0a] [--device cuda|emu] [--specs FILE] [--store DIR]

Each module is built twice: from two checkouts, with two folders of headers, homes, caches and
working folders, and in two environments. Both builds must have the same keys and the same bytes,
and no byte string of a path. FILE has a function `specs(folder)`, to build others than the ops.
What DIR holds is not built: of the emulated device the runtime, which takes most of the time.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_COPIED = ("fictl", "kernels", "templates", "pyproject.toml")
_DEPENDENCY = "tvm_ffi"


@dataclass(frozen=True)
class Machine:
    """A checkout with headers, a home, a cache and an environment of its own, below one folder."""

    root: Path
    temporary: Path  # nvcc's own; it takes no spaces.
    umask: int
    settings: dict[str, str]

    @property
    def checkout(self) -> Path:
        return self.root / "checkout"

    @property
    def headers(self) -> Path:
        return self.root / "site"

    def prepare(self) -> None:
        self.checkout.mkdir(parents=True)
        for name in _COPIED:
            source, target = _ROOT / name, self.checkout / name
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(source, target, ignore=ignored)
            else:
                shutil.copy(source, target)
        package = importlib.util.find_spec(_DEPENDENCY)
        assert package is not None
        shutil.copytree(Path(str(package.origin)).parent, self.headers / _DEPENDENCY)
        for folder in (self.root / "home", self.root / "work", self.temporary):
            folder.mkdir()

    def environment(self) -> dict[str, str]:
        inherited = {
            name: os.environ[name] for name in ("PATH", "CUDA_HOME", "CXX") if name in os.environ
        }
        return {
            **inherited,
            "PYTHONPATH": os.pathsep.join((str(self.checkout), str(self.headers))),
            "HOME": str(self.root / "home"),
            "TMPDIR": str(self.temporary),
            "FICTL_WORKSPACE_BASE": str(self.root / "cache"),
            **self.settings,
        }

    def start(self, words: list[str]) -> subprocess.Popen[str]:
        argv = [sys.executable, __file__, "--child", str(self.root), *words]
        return subprocess.Popen(
            argv,
            cwd=self.root / "work",
            env=self.environment(),
            umask=self.umask,
            stdout=subprocess.PIPE,
            text=True,
        )


@dataclass(frozen=True)
class Built:
    """One module as one machine built it."""

    module: str
    keys: str
    path: Path

    @property
    def data(self) -> bytes:
        return (self.path / "module.so").read_bytes()


@contextmanager
def machines() -> Iterator[tuple[Machine, Machine]]:
    """Two machines that differ in all but their compilers and their architecture."""
    with tempfile.TemporaryDirectory(prefix="fictl-reproducible-") as folder:
        launcher = Path(folder, "launcher")
        launcher.write_text('#!/bin/sh\nexec "$@"\n', encoding="utf-8")
        launcher.chmod(0o755)
        plain = {"LANG": "C", "TZ": "UTC", "FICTL_NVCC_THREADS": "1", "PYTHONHASHSEED": "1"}
        other = {
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "TZ": "Asia/Tokyo",
            "SOURCE_DATE_EPOCH": "1000000000",
            "PYTHONHASHSEED": "2",
            "FICTL_NVCC_THREADS": "2",
            "FICTL_NVCC_LAUNCHER": str(launcher),
            "FICTL_CXX_LAUNCHER": str(launcher),
        }
        one = Machine(Path(folder, "one"), Path(folder, "tmp1"), 0o022, plain)
        far = Path(folder, "the second machine", "deeper")
        two = Machine(far, Path(folder, "tmp2"), 0o077, other)
        for machine in (one, two):
            machine.prepare()
        yield one, two


def built(machine: Machine, words: list[str]) -> list[Built]:
    """Build on a machine; raise if a module does not build."""
    child = machine.start(words)
    output, _ = child.communicate()
    if child.returncode:
        raise SystemExit(f"the build in {machine.root} ended with exit code {child.returncode}")
    return [Built(row["module"], row["keys"], Path(row["path"])) for row in json.loads(output)]


def difference(one: Built, two: Built) -> str:
    """Say how two builds of a module differ; '' if they do not."""
    if (one.module, one.keys) != (two.module, two.keys):
        return f"keys {one.keys} and {two.keys}"
    if one.data == two.data:
        return ""
    pairs = enumerate(zip(one.data, two.data, strict=False))
    first = next((at for at, (left, right) in pairs if left != right), 0)
    sizes = f"{len(one.data)} and {len(two.data)} bytes"
    around = slice(max(0, first - 40), first + 40)
    return f"{sizes}, first at {first}: {one.data[around]!r} and {two.data[around]!r}"


def leaks(machine: Machine, build: Built) -> str:
    """Name the first shipped file that holds a path of the machine."""
    folders = (machine.root, _ROOT, Path.home(), Path(sys.prefix))
    for name in ("module.so", "manifest.json"):
        data = (build.path / name).read_bytes()
        for folder in folders:
            if f"{folder}/".encode() in data:
                return f"{name} holds {folder}"
    return ""


def compare(words: list[str]) -> list[tuple[str, str]]:
    """Build on both machines; return each module and what is wrong with it, '' for nothing."""
    with machines() as pair:
        ours, theirs = (built(machine, words) for machine in pair)
        return [
            (one.module, "; ".join(filter(None, _problems(pair, (one, two)))))
            for one, two in zip(ours, theirs, strict=True)
        ]


def _problems(pair: tuple[Machine, Machine], builds: tuple[Built, Built]) -> Iterator[str]:
    yield difference(*builds)
    yield from (leaks(machine, build) for machine, build in zip(pair, builds, strict=True))


def child(root: Path, options: argparse.Namespace) -> int:
    """Build, as one of the machines, and print what was built."""
    from fictl.arch import Arch
    from fictl.builds.building import specs_of
    from fictl.builds.for_archs import for_archs
    from fictl.jit.batch import build_all
    from fictl.jit.build import BuildOutcome
    from fictl.jit.progress import LogObserver

    archs = (Arch.parse(options.arch),) if options.device == "cuda" else ()
    os.environ["FICTL_DEVICE"] = options.device
    os.environ["FICTL_STORES"] = str(options.store or "")
    if options.specs:
        code: dict[str, object] = {}
        exec(compile(options.specs.read_text(encoding="utf-8"), options.specs, "exec"), code)
        specs = list(code["specs"](root / "project"))  # type: ignore[operator]
    else:
        specs = for_archs(specs_of(options.ops), archs, lambda _: None)
    rows = []
    for spec, outcome in zip(specs, build_all(specs, archs, LogObserver()), strict=True):
        if not isinstance(outcome, BuildOutcome):
            print(f"{spec.title}: {outcome.message}", file=sys.stderr)
            return 1
        keys = "/".join(outcome.entry.path.parts[-2:])
        rows.append({"module": spec.title, "keys": keys, "path": str(outcome.entry.path)})
    print(json.dumps(rows))
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ops", nargs="*")
    parser.add_argument("--arch", default="9.0a")
    parser.add_argument("--device", default="cuda", choices=["cuda", "emu"])
    parser.add_argument("--specs", type=Path)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options.child, options)
    words = [*options.ops, "--arch", options.arch, "--device", options.device]
    words += ["--specs", str(options.specs.resolve())] if options.specs else []
    words += ["--store", str(options.store.resolve())] if options.store else []
    start, problems = time.monotonic(), compare(words)
    for module, problem in problems:
        print(f"{module:40} {problem or 'the same'}")
    bad, seconds = sum(bool(problem) for _, problem in problems), time.monotonic() - start
    good = f"{len(problems) - bad} of {len(problems)}"
    print(f"{good} modules are reproducible; {seconds:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
