"""All settings of fictl: name, type, default, meaning. No other module reads the environment."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fictl import setting_values as values
from fictl.errors import InvalidValue
from fictl.rank_settings import (
    COMM_TIMEOUT,
    JOB,
    LOCAL_RANK,
    MASTER_ADDR,
    RANK,
    RANK_TIMEOUT,
    WORLD_SIZE,
)
from fictl.setting import CONFIG, XDG_CONFIG_HOME, Setting, file_in_use
from fictl.settings_file import PREFIX
from fictl.sharing_settings import (
    APPLY,
    ARTIFACTS_CHECKSUM_DISABLED,
    ARTIFACTS_DIR,
    ARTIFACTS_DOWNLOAD_THREADS,
    ARTIFACTS_REPOSITORY,
    DATASET_PATH,
    GPU_LOCK_DIR,
    LOCKED,
    NO_DOWNLOAD,
    PLACES,
    RAY_ADDRESS,
    RECORD,
    REMOTE,
    REMOTE_MODE,
    REMOTE_TIMEOUT,
    SIGNING_KEY,
    SIGNING_PASSWORD,
    TRACING,
    TRACING_MAX_MB,
    TRACING_POLICY,
    TRUST,
)

__all__ = ["CONFIG", "SETTINGS", "XDG_CONFIG_HOME", "Setting", "file_in_use", "unknown"]
__all__ += ["ARTIFACTS_CHECKSUM_DISABLED", "ARTIFACTS_DIR", "ARTIFACTS_DOWNLOAD_THREADS"]
__all__ += ["ARTIFACTS_REPOSITORY", "DATASET_PATH", "GPU_LOCK_DIR", "LOCKED", "NO_DOWNLOAD"]
__all__ += ["PLACES", "RAY_ADDRESS", "RECORD", "REMOTE", "REMOTE_MODE", "REMOTE_TIMEOUT"]
__all__ += ["SIGNING_KEY", "SIGNING_PASSWORD", "TRUST"]
__all__ += ["APPLY", "TRACING", "TRACING_MAX_MB", "TRACING_POLICY"]
__all__ += ["COMM_TIMEOUT", "JOB", "LOCAL_RANK", "MASTER_ADDR", "RANK", "RANK_TIMEOUT"]
__all__ += ["WORLD_SIZE"]

XDG_CACHE_HOME: Setting[Path | None] = Setting(
    "XDG_CACHE_HOME", "path", values.path, None, "what stands for ~/.cache"
)
CUDA_ARCH_LIST = Setting(
    "FICTL_CUDA_ARCH_LIST",
    "list",
    values.arch_list,
    "",
    "architectures to build for, as in '8.0 9.0a'; unset: the GPUs present",
)
ENABLE_SM120 = Setting("FICTL_ENABLE_SM120", "bool", values.boolean, False, "add the target sm_120")
ENABLE_SM120A = Setting(
    "FICTL_ENABLE_SM120A", "bool", values.boolean, False, "add the target sm_120a"
)
DEVICE = Setting(
    "FICTL_DEVICE",
    "device",
    values.choice("cuda", "emu"),
    "cuda",
    "the device that ops run on: a GPU, or the emulated one; part of the key",
)
EMU_CHECK = Setting(
    "FICTL_EMU_CHECK",
    "bool",
    values.boolean,
    False,
    "compile for check mode: every access is checked (device emu); part of the key",
)
EMU_SCHEDULE = Setting(
    "FICTL_EMU_SCHEDULE",
    "schedule",
    values.schedule,
    "forward",
    "the order of threads (device emu): forward, reverse, random or random-<seed>",
)
EMU_STRICT = Setting(
    "FICTL_EMU_STRICT",
    "bool",
    values.boolean,
    False,
    "check mode also reports what the manuals ask for and GPUs do without (device emu)",
)
EMU_THREADS: Setting[int | None] = Setting(
    "FICTL_EMU_THREADS",
    "int",
    values.whole(1, values.MOST_PROCESSES),
    None,
    "cores that run blocks of a kernel (device emu); unset: all",
)
EMU_TIMEOUT = Setting(
    "FICTL_EMU_TIMEOUT",
    "int",
    values.whole(1, values.WEEK),
    60,
    "seconds without a finished block after which a kernel is stopped (device emu)",
)
BARE_TENSORS = Setting(
    "FICTL_BARE_TENSORS",
    "bool",
    values.boolean,
    False,
    "generated tests put no known bytes beside and into tensors, for a tool that sees allocations",
)
NVCC: Setting[Path | None] = Setting(
    "FICTL_NVCC", "path", values.path, None, "the nvcc to use; unset: CUDA_HOME, PATH, usual places"
)
CUDA_HOME: Setting[Path | None] = Setting(
    "CUDA_HOME", "path", values.path, None, "the CUDA toolkit to use where FICTL_NVCC is unset"
)
CONDA_PREFIX: Setting[Path | None] = Setting(
    "CONDA_PREFIX", "path", values.path, None, "the active conda environment, searched for an nvcc"
)
LD_LIBRARY_PATH = Setting(
    "LD_LIBRARY_PATH",
    "text",
    str,
    "",
    "the loader's own; searched for the C++ library and the CUDA runtime",
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
    "FICTL_NVCC_THREADS",
    "int",
    values.whole(1, values.MOST_PROCESSES),
    None,
    "threads of one nvcc; unset: what idle cores allow",
)
MAX_JOBS: Setting[int | None] = Setting(
    "FICTL_MAX_JOBS",
    "int",
    values.whole(1, values.MOST_PROCESSES),
    None,
    "compilers at once; unset: from cores, memory and what the module took before",
    also=("MAX_JOBS",),
)
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
WORKSPACE_BASE: Setting[Path | None] = Setting(
    "FICTL_WORKSPACE_BASE",
    "path",
    values.path,
    None,
    "the cache is <this>/.cache/fictl; unset: ~/.cache/fictl",
)
STORES: Setting[tuple[Path, ...]] = Setting(
    "FICTL_STORES", "paths", values.paths, (), "read-only stores to look in after the cache, by ':'"
)
CACHE_PATH: Setting[Path | None] = Setting(
    "FICTL_CACHE_PATH",
    "path",
    values.path,
    None,
    "where sources and extensions of solutions are kept; unset: solutions in the cache",
    also=("FIB_CACHE_PATH",),
)
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
    "FICTL_LOCK_TIMEOUT",
    "int",
    values.whole(1, values.WEEK),
    600,
    "seconds to wait for another process that builds the same module, then build anyway",
)
LOGGING_LEVEL = Setting(
    "FICTL_LOGGING_LEVEL",
    "level",
    values.choice("debug", "info", "warning", "error"),
    "info",
    "what the library says on stderr: builds (info), which build was found or missed where (debug)",
)
LOGLEVEL = Setting(
    "FICTL_LOGLEVEL",
    "level",
    values.call_level,
    0,
    "log calls of ops: 0 off, 1 calls, 3 values, 5 statistics, 10 dumps; read once, at import",
)
LOGDEST = Setting(
    "FICTL_LOGDEST",
    "text",
    str,
    "stderr",
    "where calls are logged: stderr, stdout or a path; %i is the process, %r the rank",
)
LOG_SYNC = Setting(
    "FICTL_LOG_SYNC",
    "bool",
    values.boolean,
    False,
    "wait for the GPU after every logged call, so that a fault is the fault of its call",
)
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
    "FICTL_DUMP_SAFETENSORS",
    "bool",
    values.boolean,
    True,
    "dump tensors as safetensors; off: torch's .pt, with their strides",
)
TRACE_DUMP = Setting(
    "FICTL_TRACE_DUMP",
    "bool",
    values.boolean,
    False,
    "write a benchmark definition for every distinct case that is called",
)
TRACE_DUMP_DIR = Setting(
    "FICTL_TRACE_DUMP_DIR", "path", values.path, Path(), "where definitions are written"
)
VALIDATE_INPUTS = Setting(
    "FICTL_VALIDATE_INPUTS",
    "bool",
    values.boolean,
    False,
    "check every call against its trace: shapes, dtypes, constraints, what tensors hold",
)
AUTORELOAD = Setting(
    "FICTL_AUTORELOAD",
    "bool",
    values.boolean,
    False,
    "look for edited sources at every call and load the new module, for notebooks",
)
AUTOTUNER_LOAD_FROM_FILE: Setting[Path | None] = Setting(
    "FICTL_AUTOTUNER_LOAD_FROM_FILE",
    "bool or path",
    values.tuned,
    None,
    "use tactics tuned before: 1 those that `fictl tune` wrote here, a path those of that file",
)
WARMUP_RECORD: Setting[Path | None] = Setting(
    "FICTL_WARMUP_RECORD",
    "path",
    values.path,
    None,
    "append the modules that processes load to this file, for fictl warmup build",
)
SOURCE_DATE_EPOCH: Setting[int | None] = Setting(
    "SOURCE_DATE_EPOCH",
    "int",
    values.whole(0, 2**33),
    None,
    "seconds since 1970: the time of every file in a wheel; unset: the oldest that a zip can hold",
)
CUDA_VISIBLE_DEVICES = Setting(
    "CUDA_VISIBLE_DEVICES", "text", str, "", "the driver's own: the GPUs that a process may use"
)

SETTINGS: tuple[Setting[Any], ...] = tuple(
    value for value in list(globals().values()) if isinstance(value, Setting)
)


def of_other_programs() -> int:
    """Return a hash of the whole environment: packages read what they like of it."""
    return hash(frozenset(os.environ.items()))


def unreadable() -> list[str]:
    """List the problems in values of fictl's own settings, including unused ones."""
    problems = []
    for setting in (candidate for candidate in SETTINGS if candidate.name.startswith(PREFIX)):
        try:
            setting.get()
        except InvalidValue as error:
            problems.append(f"{error.message} ({error.hint})" if error.hint else error.message)
    return problems


def file_problem() -> InvalidValue | None:
    """Return the error that makes the settings file unreadable, or None."""
    try:
        file_in_use()
    except InvalidValue as error:
        return error
    return None


def unknown(known: Iterable[str] = ()) -> list[tuple[str, str]]:
    """List unknown FICTL_ names, each with the similar known name, or ''.

    known: further known names: the settings of ops.
    """
    import difflib

    names = [name for setting in SETTINGS for name in (setting.name, *setting.also)] + [*known]
    given = {name for name in os.environ if name.startswith(PREFIX)} | set(file_in_use().values)
    strange = sorted(given - set(names))
    return [(name, next(iter(difflib.get_close_matches(name, names, 1)), "")) for name in strange]
