"""Every op once, from wheels alone: an environment of Python, torch and wheels, with no compiler on PATH.

    python tests/gpu/wheel_alone.py WHEELS... --save docs/results/<day>-<gpu>-wheel.json

WHEELS are files, or folders of them: fictl's own, one of `fictl aot wheel`, and dependencies that this
Python lacks. torch and the other dependencies are those of the Python that runs this. In the new
environment every module is loaded, which is timed, then the smallest case of every public function is
compared with its reference. It ends with exit code 1 if a result is wrong, if a module comes from
elsewhere than a wheel, or if a compiler was started.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

IMPORTED = ("torch", "tvm_ffi", "jinja2", "pydantic", "safetensors", "typer", "elftools", "pytest")
_STARTED: list[list[str]] = []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("wheels", nargs="*", type=Path)
    parser.add_argument("--ops", nargs="*", default=[], help="ops to run; default: all of fictl's")
    parser.add_argument("--device", choices=("cuda", "emu"), default="cuda")
    parser.add_argument("--installer", choices=("pip", "uv"), default="pip")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        print(json.dumps(ran_inside(options.ops, options.device)))
        return 0
    wheels = [*files(options.wheels)]
    with tempfile.TemporaryDirectory() as folder:
        python = make_environment(Path(folder), wheels, options.installer)
        result = run_inside(python, options.ops, options.device)
    result["wheels"] = [described(wheel) for wheel in wheels]
    if options.save:
        options.save.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    show(result)
    return int(bool(problems(result)))


def files(places: Iterable[Path]) -> Iterator[Path]:
    for place in places:
        yield from sorted(place.glob("*.whl")) if place.is_dir() else [place]


def described(wheel: Path) -> dict[str, Any]:
    data = wheel.read_bytes()
    return {
        "file": wheel.name,
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }


def make_environment(folder: Path, wheels: Iterable[Path], installer: str = "pip") -> Path:
    """Make an environment that sees the dependencies of this Python, and install the wheels; its
    python. Its bin/ has nothing but Python and what the wheels bring."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    names = {"base": str(folder), "platbase": str(folder)}
    site = Path(sysconfig.get_path("purelib", "venv", names))
    (site / "dependencies.pth").write_text("\n".join(dependencies()), encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-compile"]
    words = pip if installer == "pip" else ["uv", "pip", "install", "--python", python]
    # pip looks at PYTHONPATH too, and would take a checkout there for an installed fictl.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([*words, "--quiet", "--no-index", "--no-deps", *wheels], env=env, check=True)
    return python


def dependencies() -> list[str]:
    """The folders that this Python imports fictl's dependencies from; what is installed comes first."""
    specs = (find_spec(name) for name in IMPORTED)
    return sorted({str(Path(spec.origin).parents[1]) for spec in specs if spec and spec.origin})


def run_inside(python: Path, ops: Iterable[str], device: str) -> dict[str, Any]:
    """Run this file in the environment, with an empty cache and nothing else on PATH."""
    env = {
        "PATH": str(python.parent),
        "HOME": str(python.parents[1] / "home"),
        "PYTHONSAFEPATH": "1",
        "FICTL_DEVICE": device,
    }
    kept = ("CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH")
    env |= {name: os.environ[name] for name in kept if name in os.environ}
    command = [python, __file__, "--inside", "--device", device, "--ops", *ops]
    start = time.monotonic()
    done = subprocess.run(
        command, cwd=python.parents[1], env=env, stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        sys.exit(f"the environment's own process ended with exit code {done.returncode}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {**result, "seconds": round(time.monotonic() - start, 2)}


def ran_inside(names: list[str], device: str) -> dict[str, Any]:
    sys.addaudithook(_note_programs)
    start = time.monotonic()
    import torch

    if device == "cuda":
        torch.cuda.init()
    imported = time.monotonic()
    from fictl.jit.load import loaded_libraries
    from fictl.project import Project, select
    from fictl.testing.generated.suite import OpSuite

    suites = [OpSuite(folder) for folder in select(names, [] if names else [Project.shipped()])]
    loads = {spec.title: tried(spec.build_and_load) for suite in suites for spec in suite.specs}
    loaded = time.monotonic()
    libraries = [str(path) for path in loaded_libraries()]
    results = [row for suite in suites for row in checked(suite, device)]
    return {
        **about(device),
        "import_seconds": round(imported - start, 2),
        "load_seconds": round(loaded - imported, 2),
        "modules": len(libraries),
        "not_loaded": {title: problem for title, problem in loads.items() if problem},
        "elsewhere": [path for path in libraries if f"{sys.prefix}{os.sep}lib" not in path],
        "compiled": [words for words in _STARTED if compiles(words)],
        "ops": results,
    }


def _note_programs(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "subprocess.Popen":
        words = arguments[1]
        _STARTED.append([str(word) for word in ([words] if isinstance(words, str) else words)])


def compiles(words: list[str]) -> bool:
    """Whether a program compiles or links: one that is asked for its version, or what it would do,
    does not."""
    if "--dryrun" in words:
        return False
    return Path(words[0]).name in ("ninja", "cicc", "ptxas") or bool({"-c", "-shared"} & {*words})


def about(device: str) -> dict[str, Any]:
    import torch

    from fictl.toolchain import find_nvcc
    from fictl.version import describe

    gpu = torch.cuda.get_device_name() if device == "cuda" else "emulated device"
    nvcc = find_nvcc()
    return {
        "gpu": gpu,
        "torch": torch.__version__,
        "python": sys.version.split()[0],
        "fictl": describe(),
        # One outside of PATH is not hidden by it; that it did not compile is counted below.
        "nvcc_outside_of_path": str(nvcc.path) if nvcc else "",
    }


def checked(suite: Any, device: str) -> Iterator[dict[str, Any]]:
    """Compare the smallest case of every function with its reference; where its module is not among
    what is built ahead, the smallest case whose module is."""
    from fictl.testing.generated.guarded_trial import GuardedTrial
    from fictl.testing.generated.layout import MemoryLayout
    from fictl.testing.generated.variant import CaseVariant

    place = "cuda" if device == "cuda" else "cpu"
    for name in dict.fromkeys(case.function for case in suite.cases):
        cases = [case for case in suite.cases if case.function == name]
        template = suite.template(cases[0])
        for case in sorted(cases, key=lambda one: template.elements(one.sizes, one.passing)):
            variant = CaseVariant(case, MemoryLayout.CONTIGUOUS, 0)
            trial = GuardedTrial(suite.function(case), template, variant, place)
            start = time.monotonic()
            problem = tried(trial.check)
            seconds = round(time.monotonic() - start, 3)
            if "SetupError" not in problem:
                break
        yield {"op": name, "case": str(case), "problem": problem, "seconds": seconds}


def tried(action: Any) -> str:
    """Say what is wrong with it, or ''."""
    try:
        action()
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:500]}"
    return ""


def problems(result: dict[str, Any]) -> list[str]:
    wrong = [f"{row['op']}: {row['problem']}" for row in result["ops"] if row["problem"]]
    wrong += [f"{title}: {problem}" for title, problem in result["not_loaded"].items()]
    wrong += [f"not from a wheel: {path}" for path in result["elsewhere"]]
    wrong += [f"compiled: {' '.join(words)}" for words in result["compiled"]]
    return wrong if result["ops"] else [*wrong, "no op was run"]


def show(result: dict[str, Any]) -> None:
    right = sum(not row["problem"] for row in result["ops"])
    print(f"{result['gpu']}, torch {result['torch']}, {result['fictl']}")
    print(f"{result['modules']} modules loaded in {result['load_seconds']} s, after torch")
    print(f"{right} of {len(result['ops'])} functions right; {len(result['compiled'])} compiled")
    print("\n".join(problems(result)))


if __name__ == "__main__":
    sys.exit(main())
