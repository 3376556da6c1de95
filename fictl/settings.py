"""Every setting of fictl: name, type, default, meaning, origin. Nothing else reads the environment."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from fictl.arch import parse_archs
from fictl.errors import InvalidValue
from fictl.quantity import parse_whole
from fictl.settings_file import PREFIX, SettingsFile, key_of, read

T = TypeVar("T")

_TRUE = ("1", "true", "yes", "on")
_FALSE = ("0", "false", "no", "off")


def _boolean(text: str) -> bool:
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise ValueError(f"expected one of {', '.join(_TRUE + _FALSE)}")


def _whole(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        try:
            return parse_whole(text, low, high)
        except InvalidValue:
            raise ValueError(f"expected a whole number from {low} to {high}") from None

    return parse


# A process at a time on each core of the largest machine there is; seconds of a week.
_MOST_PROCESSES, _WEEK = 65_536, 604_800


def _choice(*values: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.lower() not in values:
            raise ValueError(f"expected one of {', '.join(values)}")
        return text.lower()

    return parse


# What a level of the call log is called, and what each adds to the one before.
_LEVELS = {"off": 0, "calls": 1, "values": 3, "statistics": 5, "dumps": 10}
DUMPS = _LEVELS["dumps"]


def _call_level(text: str) -> int:
    numbers = {str(level): level for level in _LEVELS.values()}
    level = _LEVELS.get(text.lower(), numbers.get(text))
    if level is None:
        raise ValueError(f"expected {', '.join(f'{n} ({name})' for name, n in _LEVELS.items())}")
    return level


def _gigabytes(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{0,9})?|\.[0-9]{1,9}", text):
        raise ValueError(f"expected a number from 0 to {10**9 - 1}, as in 20 or 0.5")
    return float(text)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _arch_list(text: str) -> str:
    parse_archs(text)
    return text


def _schedule(text: str) -> str:
    if not re.fullmatch(r"forward|reverse|random(-[0-9]{1,18})?", text.lower()):
        raise ValueError("expected forward, reverse, random or random-<seed>")
    return text.lower()


def _path(text: str) -> Path:
    return Path(text).expanduser()


def _tuned(text: str) -> Path | None:
    """Path() is the place that the tuner itself writes to."""
    if text.lower() in _FALSE:
        return None
    return Path() if text.lower() in _TRUE else _path(text)


def _paths(text: str) -> tuple[Path, ...]:
    return tuple(_path(part) for part in text.split(os.pathsep) if part)


def _words(text: str) -> tuple[str, ...]:
    return tuple(shlex.split(text))


@dataclass(frozen=True)
class Origin:
    """Who decides a value: a flag, the environment, the file, or nobody; `place` is where."""

    kind: str
    place: str = ""
    text: str = ""


_DEFAULT = Origin("default")
_flags: dict[str, Origin] = {}


@dataclass(frozen=True)
class Setting(Generic[T]):
    """One variable. Empty counts as unset; a value that cannot be read is an error that names it."""

    name: str
    kind: str
    parse: Callable[[str], T]
    default: T
    doc: str
    also: tuple[str, ...] = ()

    def origin(self) -> Origin:
        """The flag, else the variable, else the line of the settings file that decides."""
        if self.name in _flags:
            return _flags[self.name]
        for name in (self.name, *self.also):
            text = os.environ.get(name, "").strip()
            if text:
                return Origin("environment", name, text)
        # What names the file cannot stand in it.
        if self.name.startswith(PREFIX) and self is not CONFIG:
            file = file_in_use()
            text = file.text(self.name, self.kind).strip()
            if text:
                return Origin("file", file.place(self.name), text)
        return _DEFAULT

    def get(self) -> T:
        origin = self.origin()
        if origin is _DEFAULT:
            return self.default
        try:
            return self.parse(origin.text)
        except ValueError as error:
            where = f"{origin.place}: {key_of(self.name)} = " if origin.kind == "file" else ""
            said = f"{where or origin.place + '='}{origin.text!r}"
            why, hint = getattr(error, "message", str(error)), getattr(error, "hint", "")
            raise InvalidValue(f"{said} cannot be read: {why}", hint or self.doc) from None

    def set_by_flag(self, flag: str, text: str) -> None:
        """What the command line says counts for this process before everything else."""
        _flags[self.name] = Origin("flag", flag, text)


CONFIG: Setting[Path | None] = Setting(
    "FICTL_CONFIG", "path", _path, None, "the settings file; unset: ~/.config/fictl/settings.toml"
)
XDG_CONFIG_HOME: Setting[Path | None] = Setting(
    "XDG_CONFIG_HOME", "path", _path, None, "what stands for ~/.config"
)
XDG_CACHE_HOME: Setting[Path | None] = Setting(
    "XDG_CACHE_HOME", "path", _path, None, "what stands for ~/.cache"
)
CUDA_ARCH_LIST = Setting(
    "FICTL_CUDA_ARCH_LIST", "list", _arch_list, "",
    "architectures to build for, as in '8.0 9.0a'; unset: the GPUs present",
)  # fmt: skip
ENABLE_SM120 = Setting(
    "FICTL_ENABLE_SM120", "bool", _boolean, False, "add the target sm_120"
)  # fmt: skip
ENABLE_SM120A = Setting(
    "FICTL_ENABLE_SM120A", "bool", _boolean, False, "add the target sm_120a"
)  # fmt: skip
DEVICE = Setting(
    "FICTL_DEVICE", "device", _choice("cuda", "emu"), "cuda",
    "the device that ops run on: a GPU, or the emulated one; part of the key",
)  # fmt: skip
EMU_CHECK = Setting(
    "FICTL_EMU_CHECK", "bool", _boolean, False,
    "compile for check mode: every access is checked (device emu); part of the key",
)  # fmt: skip
EMU_SCHEDULE = Setting(
    "FICTL_EMU_SCHEDULE", "schedule", _schedule, "forward",
    "the order of threads (device emu): forward, reverse, random or random-<seed>",
)  # fmt: skip
EMU_THREADS: Setting[int | None] = Setting(
    "FICTL_EMU_THREADS", "int", _whole(1, _MOST_PROCESSES), None,
    "cores that run blocks of a kernel (device emu); unset: all",
)  # fmt: skip
EMU_TIMEOUT = Setting(
    "FICTL_EMU_TIMEOUT", "int", _whole(1, _WEEK), 60,
    "seconds without a finished block after which a kernel is stopped (device emu)",
)  # fmt: skip
BARE_TENSORS = Setting(
    "FICTL_BARE_TENSORS", "bool", _boolean, False,
    "generated tests put no known bytes beside and into tensors, for a tool that sees allocations",
)  # fmt: skip
NVCC: Setting[Path | None] = Setting(
    "FICTL_NVCC", "path", _path, None, "the nvcc to use; unset: CUDA_HOME, PATH, usual places"
)
CUDA_HOME: Setting[Path | None] = Setting(
    "CUDA_HOME", "path", _path, None, "the CUDA toolkit to use where FICTL_NVCC is unset"
)
CONDA_PREFIX: Setting[Path | None] = Setting(
    "CONDA_PREFIX", "path", _path, None, "the active conda environment, searched for an nvcc"
)
CXX: Setting[tuple[str, ...]] = Setting(
    "CXX", "words", _words, (), "the host C++ compiler; unset: g++, c++, clang++"
)
NVCC_LAUNCHER: Setting[tuple[str, ...]] = Setting(
    "FICTL_NVCC_LAUNCHER", "words", _words, (), "put before nvcc, as in 'ccache'"
)
CXX_LAUNCHER: Setting[tuple[str, ...]] = Setting(
    "FICTL_CXX_LAUNCHER", "words", _words, (), "put before the host C++ compiler"
)
NVCC_THREADS: Setting[int | None] = Setting(
    "FICTL_NVCC_THREADS", "int", _whole(1, _MOST_PROCESSES), None,
    "threads of one nvcc; unset: what idle cores allow",
)  # fmt: skip
MAX_JOBS: Setting[int | None] = Setting(
    "FICTL_MAX_JOBS", "int", _whole(1, _MOST_PROCESSES), None,
    "compilers at once; unset: from cores, memory and what the module took before",
    also=("MAX_JOBS",),
)  # fmt: skip
EXTRA_CFLAGS: Setting[tuple[str, ...]] = Setting(
    "FICTL_EXTRA_CFLAGS", "words", _words, (), "more flags for the host C++ compiler"
)
EXTRA_CUDAFLAGS: Setting[tuple[str, ...]] = Setting(
    "FICTL_EXTRA_CUDAFLAGS", "words", _words, (), "more flags for nvcc"
)
EXTRA_LDFLAGS: Setting[tuple[str, ...]] = Setting(
    "FICTL_EXTRA_LDFLAGS", "words", _words, (), "more flags for the link"
)
NVCC_PREPEND_FLAGS = Setting(
    "NVCC_PREPEND_FLAGS", "text", str, "", "nvcc's own; part of a build's key"
)
NVCC_APPEND_FLAGS = Setting(
    "NVCC_APPEND_FLAGS", "text", str, "", "nvcc's own; part of a build's key"
)
JIT_DEBUG = Setting(
    "FICTL_JIT_DEBUG", "bool", _boolean, False, "build the debug variant: -O0, -G, symbols"
)
JIT_LINEINFO = Setting(
    "FICTL_JIT_LINEINFO", "bool", _boolean, False, "build the lineinfo variant, for profilers"
)
JIT_PROFILE = Setting(
    "FICTL_JIT_PROFILE", "bool", _boolean, False, "build the profile variant: kernels record events"
)
JIT_VERBOSE = Setting(
    "FICTL_JIT_VERBOSE", "bool", _boolean, False, "show every build command; same code"
)
DISABLE_JIT = Setting(
    "FICTL_DISABLE_JIT", "bool", _boolean, False, "never compile: use what a store holds, or fail"
)
DISABLE_VERSION_CHECK = Setting(
    "FICTL_DISABLE_VERSION_CHECK", "bool", _boolean, False,
    "use a prebuilt store that another version of fictl wrote",
)  # fmt: skip
WORKSPACE_BASE: Setting[Path | None] = Setting(
    "FICTL_WORKSPACE_BASE", "path", _path, None,
    "the cache is <this>/.cache/fictl; unset: ~/.cache/fictl",
)  # fmt: skip
STORES: Setting[tuple[Path, ...]] = Setting(
    "FICTL_STORES", "paths", _paths, (), "read-only stores to look in after the cache, by ':'"
)
CACHE_PATH: Setting[Path | None] = Setting(
    "FICTL_CACHE_PATH", "path", _path, None,
    "where sources and extensions of solutions are kept; unset: solutions in the cache",
    also=("FIB_CACHE_PATH",),
)  # fmt: skip
LOCK_TIMEOUT = Setting(
    "FICTL_LOCK_TIMEOUT", "int", _whole(1, _WEEK), 600,
    "seconds to wait for another process that builds the same module, then build anyway",
)  # fmt: skip
LOGGING_LEVEL = Setting(
    "FICTL_LOGGING_LEVEL", "level", _choice("debug", "info", "warning", "error"), "info",
    "what the library says on stderr: builds (info), cache decisions (debug)",
)  # fmt: skip
LOGLEVEL = Setting(
    "FICTL_LOGLEVEL", "level", _call_level, 0,
    "log calls of ops: 0 off, 1 calls, 3 values, 5 statistics, 10 dumps; read once, at import",
)  # fmt: skip
LOGDEST = Setting(
    "FICTL_LOGDEST", "text", str, "stderr",
    "where calls are logged: stderr, stdout or a path; %i is the process, %r the rank",
)  # fmt: skip
LOG_SYNC = Setting(
    "FICTL_LOG_SYNC", "bool", _boolean, False,
    "wait for the GPU after every logged call, so that a fault is the fault of its call",
)  # fmt: skip
DUMP_DIR = Setting(
    "FICTL_DUMP_DIR", "path", _path, Path("fictl_dumps"), "where level 10 writes one folder a call"
)
DUMP_INCLUDE: Setting[tuple[str, ...]] = Setting(
    "FICTL_DUMP_INCLUDE", "names", _names, (), "ops to dump, by ',', with wildcards; unset: all"
)
DUMP_EXCLUDE: Setting[tuple[str, ...]] = Setting(
    "FICTL_DUMP_EXCLUDE", "names", _names, (), "ops not to dump, by ',', with wildcards"
)
DUMP_MAX_COUNT = Setting(
    "FICTL_DUMP_MAX_COUNT", "int", _whole(1, 10**9), 1000, "calls dumped at most by one process"
)
DUMP_MAX_SIZE_GB = Setting(
    "FICTL_DUMP_MAX_SIZE_GB", "number", _gigabytes, 20.0, "gigabytes dumped at most by one process"
)
DUMP_SAFETENSORS = Setting(
    "FICTL_DUMP_SAFETENSORS", "bool", _boolean, True,
    "dump tensors as safetensors; off: torch's .pt, with their strides",
)  # fmt: skip
TRACE_DUMP = Setting(
    "FICTL_TRACE_DUMP", "bool", _boolean, False,
    "write a benchmark definition for every distinct case that is called",
)  # fmt: skip
TRACE_DUMP_DIR = Setting(
    "FICTL_TRACE_DUMP_DIR", "path", _path, Path(), "where definitions are written"
)
VALIDATE_INPUTS = Setting(
    "FICTL_VALIDATE_INPUTS", "bool", _boolean, False,
    "check every call against its trace: shapes, dtypes, constraints, what tensors hold",
)  # fmt: skip
DATASET_PATH = Setting(
    "FICTL_DATASET_PATH", "path", _path, Path("~/.cache/flashinfer_bench/dataset"),
    "the dataset that commands use where none is named", also=("FIB_DATASET_PATH",),
)  # fmt: skip
AUTORELOAD = Setting(
    "FICTL_AUTORELOAD", "bool", _boolean, False,
    "look for edited sources at every call and load the new module, for notebooks",
)  # fmt: skip
AUTOTUNER_LOAD_FROM_FILE: Setting[Path | None] = Setting(
    "FICTL_AUTOTUNER_LOAD_FROM_FILE", "bool or path", _tuned, None,
    "use tactics tuned before: 1 those that `fictl tune` wrote here, a path those of that file",
)  # fmt: skip
RANK = Setting(
    "RANK", "text", str, "", "this process among those of a job, as launchers set it",
    also=("OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK"),
)  # fmt: skip
WORLD_SIZE = Setting(
    "WORLD_SIZE", "int", _whole(1, 10**6), 1, "how many processes a job has, as launchers set it",
    also=("OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "PMI_SIZE"),
)  # fmt: skip
LOCAL_RANK: Setting[int | None] = Setting(
    "LOCAL_RANK", "int", _whole(0, 10**6), None,
    "this process among those of a job on this machine; unset: as RANK",
    also=("OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID", "MPI_LOCALRANKID"),
)  # fmt: skip
MASTER_ADDR = Setting(
    "MASTER_ADDR", "text", str, "", "where the processes of a job meet; unset: on this machine"
)
JOB = Setting(
    "PMIX_NAMESPACE", "text", str, "", "what the processes of one job share, as launchers set it",
    also=("OMPI_MCA_ess_base_jobid", "SLURM_JOB_ID"),
)  # fmt: skip
CUDA_VISIBLE_DEVICES = Setting(
    "CUDA_VISIBLE_DEVICES", "text", str, "", "the driver's own: the GPUs that a process may use"
)

SETTINGS: tuple[Setting[Any], ...] = tuple(
    value for value in list(globals().values()) if isinstance(value, Setting)
)


def unreadable() -> list[str]:
    """What is wrong with values of fictl's own settings, whether or not somebody reads them."""
    problems = []
    for setting in (each for each in SETTINGS if each.name.startswith(PREFIX)):
        try:
            setting.get()
        except InvalidValue as error:
            problems.append(f"{error.message} ({error.hint})" if error.hint else error.message)
    return problems


def file_problem() -> InvalidValue | None:
    """Why the settings file cannot be read."""
    try:
        file_in_use()
    except InvalidValue as error:
        return error
    return None


def file_in_use() -> SettingsFile:
    return _file(*map(os.environ.get, (CONFIG.name, XDG_CONFIG_HOME.name, "HOME")))


@cache
def _file(*_variables: str | None) -> SettingsFile:
    """Found once for these values of the variables that decide where it is."""
    try:
        folder = XDG_CONFIG_HOME.get() or Path("~/.config").expanduser()
    except RuntimeError:  # A user without a home has no file there.
        folder = Path(os.devnull)
    named = CONFIG.get()
    if named is not None and not named.exists():
        raise InvalidValue(
            f"{CONFIG.name}={str(named)!r} cannot be read: there is no such file",
            f"unset {CONFIG.name}, or make the file",
        )
    return read(named or folder / "fictl" / "settings.toml")


def unknown(known: Iterable[str] = ()) -> list[tuple[str, str]]:
    """FICTL_ names that mean nothing, each with the name that it may be meant for, or ''.

    `known` are names beyond those here: the settings of ops.
    """
    import difflib

    names = [name for setting in SETTINGS for name in (setting.name, *setting.also)] + [*known]
    said = {name for name in os.environ if name.startswith(PREFIX)} | set(file_in_use().values)
    strange = sorted(said - set(names))
    return [(name, next(iter(difflib.get_close_matches(name, names, 1)), "")) for name in strange]
