"""What BuilderRegistry.build takes for a solution that was built before."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from sample import Pair, interleave, python
from yardsticks import interpreter

_SCRIPT = """
import time
# What a build imports is not what it takes.
import fictl.jit.build, fictl.jit.compile, fictl.jit.load, torch, tvm_ffi
from fictl.runnable import BuilderRegistry
from fictl.runnable.builders import PythonBuilder, TVMFFIBuilder
from fictl.trace import Definition, Solution

definition = Definition.model_validate(dict(
    name="scaled", op_type="scaled", axes=dict(n=dict(type="var")),
    inputs=dict(x=dict(shape=["n"], dtype="float32")),
    outputs=dict(y=dict(shape=["n"], dtype="float32")), reference="def run(x): return x",
))
def solution(language, path, text):
    spec = dict(language=language, target_hardware=["cuda"], entry_point=f"{{path}}::run",
                destination_passing_style=False)
    return Solution.model_validate(dict(name="a", definition="scaled", author="a", spec=spec,
                                        sources=[dict(path=path, content=text)]))
python = solution("python", "main.py", "def run(x): return x" + "\\n" * 50)
cpp = solution("cpp", "main.cpp", '''
#include <tvm/ffi/c_api.h>
extern "C" __attribute__((visibility("default"))) int __tvm_ffi_run(
    void*, const TVMFFIAny*, int32_t, TVMFFIAny*) {{ return 0; }}
''')
registry = BuilderRegistry([PythonBuilder(), TVMFFIBuilder()])
asked = dict(python=python, tvm_ffi=cpp)["{kind}"]
seconds = []
for _ in range(3):
    start = time.perf_counter()
    registry.build(definition, asked)
    seconds.append(time.perf_counter() - start)
print(seconds[0], min(seconds[1:]))
"""


def fresh(kind: str) -> Pair:
    """The first build() of a process, where everything is on disk; `kind` is python or tvm_ffi."""
    return _measured(kind, 0)


def again(kind: str) -> Pair:
    """The second build() of a process."""
    return _measured(kind, 1)


def _measured(kind: str, which: int) -> Pair:
    from fictl.toolchain import visible_gpus

    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])
    code = _SCRIPT.format(kind=kind)
    with tempfile.TemporaryDirectory() as folder:
        env = {
            **os.environ,
            "PYTHONPATH": path,
            "FICTL_WORKSPACE_BASE": folder,
            "FICTL_LOGGING_LEVEL": "warning",
        }
        if not visible_gpus():
            env["FICTL_CUDA_ARCH_LIST"] = "8.0"

        def sample() -> float:
            return float(python(code, env).split()[which])

        sample()
        return interleave(sample, interpreter, 5)


def main() -> None:
    for kind in ("python", "tvm_ffi"):
        first, second = fresh(kind), again(kind)
        print(
            f"{kind}: first build of a process {first.ours * 1e3:.2f} ms, "
            f"second {second.ours * 1e6:.0f} us",
            file=sys.stderr,
        )


if __name__ == "__main__":
    main()
