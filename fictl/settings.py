"""Every setting of fictl: name, type, default, meaning, origin. Nothing else reads the environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from fictl import setting_values as values
from fictl.errors import InvalidValue
from fictl.redact import hidden, hide_secrets
from fictl.settings_file import PREFIX, SettingsFile, key_of, read

T = TypeVar("T")


@dataclass(frozen=True)
class Origin:
    """Who decides a value: a flag, the environment, the file, or nobody; `place` is where."""

    kind: str
    place: str = ""
    text: str = ""


_BLANKS = " \t\r\n"  # Other spaces are no part of a value by mistake alone.
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
            text = os.environ.get(name, "").strip(_BLANKS)
            if text:
                return Origin("environment", name, text)
        # What names the file cannot stand in it.
        if self.name.startswith(PREFIX) and self is not CONFIG:
            file = file_in_use()
            text = file.text(self.name, self.kind).strip(_BLANKS)
            if text:
                return Origin("file", file.place(self.name), text)
        return _DEFAULT

    def get(self) -> T:
        try:
            return self._value(self.origin())
        except InvalidValue:
            _file.cache_clear()  # The user is told to mend it.
            raise

    def _value(self, origin: Origin) -> T:
        if origin is _DEFAULT:
            return self.default
        try:
            return self.parse(origin.text)
        except ValueError as error:
            where = f"{origin.place}: {key_of(self.name)} = " if origin.kind == "file" else ""
            said = f"{where or origin.place + '='}{hidden(self.name, origin.text)!r}"
            why, hint = (
                hide_secrets(getattr(error, "message", str(error))),
                getattr(error, "hint", ""),
            )
            raise InvalidValue(f"{said} cannot be read: {why}", hint or self.doc) from None

    def set_by_flag(self, flag: str, text: str) -> None:
        """What the command line says counts for this process before everything else."""
        _flags[self.name] = Origin("flag", flag, text)


CONFIG: Setting[Path | None] = Setting(
    "FICTL_CONFIG",
    "path",
    values.path,
    None,
    "the settings file; unset: ~/.config/fictl/settings.toml",
)
XDG_CONFIG_HOME: Setting[Path | None] = Setting(
    "XDG_CONFIG_HOME", "path", values.path, None, "what stands for ~/.config"
)
XDG_CACHE_HOME: Setting[Path | None] = Setting(
    "XDG_CACHE_HOME", "path", values.path, None, "what stands for ~/.cache"
)
CUDA_ARCH_LIST = Setting(
    "FICTL_CUDA_ARCH_LIST", "list", values.arch_list, "",
    "architectures to build for, as in '8.0 9.0a'; unset: the GPUs present",
)  # fmt: skip
ENABLE_SM120 = Setting(
    "FICTL_ENABLE_SM120", "bool", values.boolean, False, "add the target sm_120"
)  # fmt: skip
ENABLE_SM120A = Setting(
    "FICTL_ENABLE_SM120A", "bool", values.boolean, False, "add the target sm_120a"
)  # fmt: skip
DEVICE = Setting(
    "FICTL_DEVICE", "device", values.choice("cuda", "emu"), "cuda",
    "the device that ops run on: a GPU, or the emulated one; part of the key",
)  # fmt: skip
EMU_CHECK = Setting(
    "FICTL_EMU_CHECK", "bool", values.boolean, False,
    "compile for check mode: every access is checked (device emu); part of the key",
)  # fmt: skip
EMU_SCHEDULE = Setting(
    "FICTL_EMU_SCHEDULE", "schedule", values.schedule, "forward",
    "the order of threads (device emu): forward, reverse, random or random-<seed>",
)  # fmt: skip
EMU_THREADS: Setting[int | None] = Setting(
    "FICTL_EMU_THREADS", "int", values.whole(1, values.MOST_PROCESSES), None,
    "cores that run blocks of a kernel (device emu); unset: all",
)  # fmt: skip
EMU_TIMEOUT = Setting(
    "FICTL_EMU_TIMEOUT", "int", values.whole(1, values.WEEK), 60,
    "seconds without a finished block after which a kernel is stopped (device emu)",
)  # fmt: skip
BARE_TENSORS = Setting(
    "FICTL_BARE_TENSORS", "bool", values.boolean, False,
    "generated tests put no known bytes beside and into tensors, for a tool that sees allocations",
)  # fmt: skip
NVCC: Setting[Path | None] = Setting(
    "FICTL_NVCC", "path", values.path, None, "the nvcc to use; unset: CUDA_HOME, PATH, usual places"
)
CUDA_HOME: Setting[Path | None] = Setting(
    "CUDA_HOME", "path", values.path, None, "the CUDA toolkit to use where FICTL_NVCC is unset"
)
CONDA_PREFIX: Setting[Path | None] = Setting(
    "CONDA_PREFIX", "path", values.path, None, "the active conda environment, searched for an nvcc"
)
CXX: Setting[tuple[str, ...]] = Setting(
    "CXX", "words", values.words, (), "the host C++ compiler; unset: g++, c++, clang++"
)
NVCC_LAUNCHER: Setting[tuple[str, ...]] = Setting(
    "FICTL_NVCC_LAUNCHER", "words", values.words, (), "put before nvcc, as in 'ccache'"
)
CXX_LAUNCHER: Setting[tuple[str, ...]] = Setting(
    "FICTL_CXX_LAUNCHER", "words", values.words, (), "put before the host C++ compiler"
)
NVCC_THREADS: Setting[int | None] = Setting(
    "FICTL_NVCC_THREADS", "int", values.whole(1, values.MOST_PROCESSES), None,
    "threads of one nvcc; unset: what idle cores allow",
)  # fmt: skip
MAX_JOBS: Setting[int | None] = Setting(
    "FICTL_MAX_JOBS", "int", values.whole(1, values.MOST_PROCESSES), None,
    "compilers at once; unset: from cores, memory and what the module took before",
    also=("MAX_JOBS",),
)  # fmt: skip
EXTRA_CFLAGS: Setting[tuple[str, ...]] = Setting(
    "FICTL_EXTRA_CFLAGS", "words", values.words, (), "more flags for the host C++ compiler"
)
EXTRA_CUDAFLAGS: Setting[tuple[str, ...]] = Setting(
    "FICTL_EXTRA_CUDAFLAGS", "words", values.words, (), "more flags for nvcc"
)
EXTRA_LDFLAGS: Setting[tuple[str, ...]] = Setting(
    "FICTL_EXTRA_LDFLAGS", "words", values.words, (), "more flags for the link"
)
NVCC_PREPEND_FLAGS = Setting(
    "NVCC_PREPEND_FLAGS", "text", str, "", "nvcc's own; part of a build's key"
)
NVCC_APPEND_FLAGS = Setting(
    "NVCC_APPEND_FLAGS", "text", str, "", "nvcc's own; part of a build's key"
)
JIT_DEBUG = Setting(
    "FICTL_JIT_DEBUG", "bool", values.boolean, False, "build the debug variant: -O0, -G, symbols"
)
JIT_LINEINFO = Setting(
    "FICTL_JIT_LINEINFO", "bool", values.boolean, False, "build the lineinfo variant, for profilers"
)
JIT_PROFILE = Setting(
    "FICTL_JIT_PROFILE",
    "bool",
    values.boolean,
    False,
    "build the profile variant: kernels record events",
)
JIT_VERBOSE = Setting(
    "FICTL_JIT_VERBOSE", "bool", values.boolean, False, "show every build command; same code"
)
DISABLE_JIT = Setting(
    "FICTL_DISABLE_JIT",
    "bool",
    values.boolean,
    False,
    "never compile: use what a store holds, or fail",
)
DISABLE_VERSION_CHECK = Setting(
    "FICTL_DISABLE_VERSION_CHECK", "bool", values.boolean, False,
    "use a prebuilt store that another version of fictl wrote",
)  # fmt: skip
WORKSPACE_BASE: Setting[Path | None] = Setting(
    "FICTL_WORKSPACE_BASE", "path", values.path, None,
    "the cache is <this>/.cache/fictl; unset: ~/.cache/fictl",
)  # fmt: skip
STORES: Setting[tuple[Path, ...]] = Setting(
    "FICTL_STORES", "paths", values.paths, (), "read-only stores to look in after the cache, by ':'"
)
CACHE_PATH: Setting[Path | None] = Setting(
    "FICTL_CACHE_PATH", "path", values.path, None,
    "where sources and extensions of solutions are kept; unset: solutions in the cache",
    also=("FIB_CACHE_PATH",),
)  # fmt: skip
SAFE_PROJECTS: Setting[tuple[Path, ...]] = Setting(
    "FICTL_SAFE_PROJECTS", "paths", values.paths, (), "other users' projects that may run; '*': all"
)
SUDO_UID: Setting[int | None] = Setting(
    "SUDO_UID",
    "int",
    values.whole(0, 2**32 - 1),
    None,
    "set by sudo: whose projects may run for root, too",
)
LOCK_TIMEOUT = Setting(
    "FICTL_LOCK_TIMEOUT", "int", values.whole(1, values.WEEK), 600,
    "seconds to wait for another process that builds the same module, then build anyway",
)  # fmt: skip
LOGGING_LEVEL = Setting(
    "FICTL_LOGGING_LEVEL", "level", values.choice("debug", "info", "warning", "error"), "info",
    "what the library says on stderr: builds (info), which build was found or missed where (debug)",
)  # fmt: skip
LOGLEVEL = Setting(
    "FICTL_LOGLEVEL", "level", values.call_level, 0,
    "log calls of ops: 0 off, 1 calls, 3 values, 5 statistics, 10 dumps; read once, at import",
)  # fmt: skip
LOGDEST = Setting(
    "FICTL_LOGDEST", "text", str, "stderr",
    "where calls are logged: stderr, stdout or a path; %i is the process, %r the rank",
)  # fmt: skip
LOG_SYNC = Setting(
    "FICTL_LOG_SYNC", "bool", values.boolean, False,
    "wait for the GPU after every logged call, so that a fault is the fault of its call",
)  # fmt: skip
DUMP_DIR = Setting(
    "FICTL_DUMP_DIR",
    "path",
    values.path,
    Path("fictl_dumps"),
    "where level 10 writes one folder a call",
)
DUMP_INCLUDE: Setting[tuple[str, ...]] = Setting(
    "FICTL_DUMP_INCLUDE",
    "names",
    values.names,
    (),
    "ops to dump, by ',', with wildcards; unset: all",
)
DUMP_EXCLUDE: Setting[tuple[str, ...]] = Setting(
    "FICTL_DUMP_EXCLUDE", "names", values.names, (), "ops not to dump, by ',', with wildcards"
)
DUMP_MAX_COUNT = Setting(
    "FICTL_DUMP_MAX_COUNT",
    "int",
    values.whole(1, 10**9),
    1000,
    "calls dumped at most by one process",
)
DUMP_MAX_SIZE_GB = Setting(
    "FICTL_DUMP_MAX_SIZE_GB",
    "number",
    values.gigabytes,
    20.0,
    "gigabytes dumped at most by one process",
)
DUMP_SAFETENSORS = Setting(
    "FICTL_DUMP_SAFETENSORS", "bool", values.boolean, True,
    "dump tensors as safetensors; off: torch's .pt, with their strides",
)  # fmt: skip
TRACE_DUMP = Setting(
    "FICTL_TRACE_DUMP", "bool", values.boolean, False,
    "write a benchmark definition for every distinct case that is called",
)  # fmt: skip
TRACE_DUMP_DIR = Setting(
    "FICTL_TRACE_DUMP_DIR", "path", values.path, Path(), "where definitions are written"
)
VALIDATE_INPUTS = Setting(
    "FICTL_VALIDATE_INPUTS", "bool", values.boolean, False,
    "check every call against its trace: shapes, dtypes, constraints, what tensors hold",
)  # fmt: skip
DATASET_PATH = Setting(
    "FICTL_DATASET_PATH", "path", values.path, Path("~/.cache/flashinfer_bench/dataset"),
    "the dataset that commands use where none is named", also=("FIB_DATASET_PATH",),
)  # fmt: skip
AUTORELOAD = Setting(
    "FICTL_AUTORELOAD", "bool", values.boolean, False,
    "look for edited sources at every call and load the new module, for notebooks",
)  # fmt: skip
AUTOTUNER_LOAD_FROM_FILE: Setting[Path | None] = Setting(
    "FICTL_AUTOTUNER_LOAD_FROM_FILE", "bool or path", values.tuned, None,
    "use tactics tuned before: 1 those that `fictl tune` wrote here, a path those of that file",
)  # fmt: skip
RANK = Setting(
    "RANK", "text", str, "", "this process among those of a job, as launchers set it",
    also=("OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK"),
)  # fmt: skip
WORLD_SIZE = Setting(
    "WORLD_SIZE", "int", values.whole(1, 10**6), 1, "how many processes a job has, as launchers set it",
    also=("OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "PMI_SIZE"),
)  # fmt: skip
LOCAL_RANK: Setting[int | None] = Setting(
    "LOCAL_RANK", "int", values.whole(0, 10**6), None,
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
    if named is not None and not os.path.exists(named):
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
