"""The real command line in a small project, with a toolkit whose compiles take a tenth of a second."""

from __future__ import annotations

import ctypes
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import fictl
from fictl.jit.store.entry import Entry
from fictl.jit.store.stores import writable_store

_PYTHONPATH = os.pathsep.join(
    [str(Path(fictl.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
)
_LIBC = ctypes.CDLL(None)
_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 24, 1, 2
# Why without these: tvm_ffi imports them where it can, which takes longer than a build here.
_CALL = """import sys
sys.modules.update(dict.fromkeys(["torch", "numpy", "ml_dtypes", "cuda"]))
from fictl.project import mount
mount()
import tiny
print(tiny.ops.twice(21))
"""

# Why fork: importing takes each of them longer than what is tested. The gate opens for all at once.
_FORK_THEN_CALL = """import os, sys
sys.modules.update(dict.fromkeys(["torch", "numpy", "ml_dtypes", "cuda"]))
from fictl.project import mount
mount()
import fictl.jit.build, fictl.jit.compile, tiny, tvm_ffi
from fictl.errors import FictlError
twice = tiny.ops.twice

def call():
    try:
        print(twice(21))
    except FictlError as error:
        print(error)
        sys.exit(error.exit_code)

gate, opened = os.pipe()
for number in range(int(sys.argv[1])):
    if os.fork() == 0:
        os.close(opened)
        said = os.open(f"{sys.argv[2]}/{number}", os.O_CREAT | os.O_WRONLY)
        os.dup2(said, 1)
        os.dup2(said, 2)
        os.read(gate, 1)
        call()
        sys.exit()
os.close(opened)
for _ in range(int(sys.argv[1])):
    print(os.waitstatus_to_exitcode(os.wait()[1]))
"""


@dataclass(frozen=True)
class Answer:
    """What a run of the command line left behind."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return self.out + self.err


@dataclass(frozen=True)
class Tiny:
    """The project `tiny`, whose op `twice` returns 42 for 21, and the nvcc that builds it."""

    root: Path
    nvcc: Path

    @property
    def op(self) -> Path:
        return self.root / "kernels" / "elementwise" / "twice"

    @property
    def header(self) -> Path:
        return self.root / "kernels" / "include" / "tiny" / "elementwise" / "twice.cuh"

    def multiply_by(self, factor: object) -> None:
        """Edit the launcher: 21 times this is what a right build answers."""
        path = self.op / "launcher.cu"
        text = re.sub(r"return .* \* value", f"return {factor} * value", path.read_text())
        path.write_text(text, encoding="utf-8")

    @property
    def compiles(self) -> int:
        """How often the launcher was compiled."""
        calls = (self.nvcc.parents[1] / "calls").read_text().splitlines()
        return sum("-o launcher.o" in call for call in calls)

    @property
    def folder(self) -> Path:
        """What the cache has of the op."""
        return writable_store().module_dir("tiny", "elementwise.twice")

    @property
    def entries(self) -> list[Entry]:
        """Every published build, whole or not."""
        manifests = self.folder.glob("*/*/manifest.json")
        paths = [path.parent for path in manifests if path.parts[-3] != "staging"]
        return [Entry.read(path) for path in paths]

    @property
    def staging(self) -> list[Path]:
        return list((self.folder / "staging").glob("*"))


@pytest.fixture
def toolkit(stand_in_nvcc: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    nvcc = stand_in_nvcc("13.0")
    monkeypatch.setenv("FICTL_NVCC", str(nvcc))
    return nvcc


@pytest.fixture
def project(tiny: Path, toolkit: Path) -> Tiny:
    return Tiny(tiny, toolkit)


def _environment(changes: dict[str, str | None]) -> dict[str, str]:
    merged = {**os.environ, "PYTHONPATH": _PYTHONPATH, **changes}
    return {name: value for name, value in merged.items() if value is not None}


@pytest.fixture
def start() -> Callable[..., subprocess.Popen[str]]:
    """Start Python in a session of its own; None as a variable's value unsets it."""

    def run(*words: str, **changes: str | None) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, *words],
            env=_environment(changes),
            text=True,
            start_new_session=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=_as_of_a_user,  # noqa: PLW1509
        )

    return run


def _as_of_a_user() -> None:
    """A shell starts what runs in its background, and all below that, with Ctrl-C switched off; and
    root passes every permission check.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
        _LIBC.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)  # Refused to others, who have none.


@pytest.fixture
def fictl_(start: Callable[..., subprocess.Popen[str]]) -> Callable[..., Answer]:
    """Run a command to its end. Whatever happens, no user sees a traceback."""

    def run(*words: str, **changes: str | None) -> Answer:
        child = start("-m", "fictl", *words, **changes)
        out, err = child.communicate(timeout=120)
        answer = Answer(child.returncode, out, err)
        assert "Traceback" not in answer.said
        assert "internal error" not in answer.said
        return answer

    return run


@pytest.fixture
def call(start: Callable[..., subprocess.Popen[str]]) -> Callable[..., str]:
    """What `tiny.ops.twice(21)` prints in a fresh interpreter."""

    def run(**changes: str | None) -> str:
        child = start("-c", _CALL, **changes)
        out, err = child.communicate(timeout=120)
        assert child.returncode == 0, err
        return out.strip()

    return run


@pytest.fixture
def mounted(tmp_path: Path) -> Callable[..., Answer]:
    """Run a shell script as root of a user namespace that may mount; the cache is at $CACHE.

    In it `fictl` is the command line and `call` the op, called in a fresh interpreter.
    """

    def run(text: str, *options: str, **changes: str | None) -> Answer:
        unshare = ["unshare", "--user", *(options or ("--map-root-user", "--mount"))]
        if subprocess.run([*unshare, "true"], capture_output=True).returncode:
            pytest.skip("needs user namespaces: unshare is refused here")
        cache = tmp_path / "mounted"
        cache.mkdir(exist_ok=True)
        (tmp_path / "call.py").write_text(_CALL, encoding="utf-8")
        python = shlex.quote(sys.executable)
        aliases = f'fictl() {{ {python} -m fictl "$@"; }}\ncall() {{ {python} ../call.py; }}\n'
        environment = {"CACHE": str(cache), "FICTL_WORKSPACE_BASE": str(cache), **changes}
        done = subprocess.run(
            [*unshare, "sh", "-c", aliases + text],
            env=_environment(environment),
            capture_output=True,
            text=True,
            timeout=120,
        )
        answer = Answer(done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in answer.said
        assert "internal error" not in answer.said
        return answer

    return run


@pytest.fixture
def at_once(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> Callable[..., tuple[list[int], list[str]]]:
    """Call the op in so many processes at once; return their exit codes, and what each printed."""

    def run(processes: int, **changes: str | None) -> tuple[list[int], list[str]]:
        outputs = tmp_path / "outputs"
        outputs.mkdir()
        parent = start(
            *("-c", _FORK_THEN_CALL, str(processes), str(outputs)),
            **{"FICTL_LOGGING_LEVEL": "error", **changes},
        )
        codes, err = parent.communicate(timeout=120)
        assert parent.returncode == 0, err
        return [*map(int, codes.split())], [path.read_text() for path in outputs.iterdir()]

    return run
