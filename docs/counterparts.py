"""FlashInfer's environment variables, and what stands for each of them here.

"" is the variable of the same name that begins with FICTL_; other text says why there is none.
"""

from __future__ import annotations

_NO_CUBINS = "none: nothing is downloaded; every kernel is compiled from source"
_NO_DUMPS = "none: calls are not dumped"
_NO_TRACES = "none: definitions are not captured from calls"
_NO_SUCH_KERNEL = "none: the kernel that it steers is not here"

COUNTERPARTS = {
    "FLASHINFER_CUDA_ARCH_LIST": "",
    "FLASHINFER_ENABLE_SM120": "",
    "FLASHINFER_ENABLE_SM120A": "",
    "FLASHINFER_NVCC": "",
    "FLASHINFER_NVCC_LAUNCHER": "",
    "FLASHINFER_CXX_LAUNCHER": "",
    "FLASHINFER_NVCC_THREADS": "",
    "MAX_JOBS": "",
    "FLASHINFER_EXTRA_CFLAGS": "",
    "FLASHINFER_EXTRA_CUDAFLAGS": "",
    "FLASHINFER_EXTRA_LDFLAGS": "",
    "FLASHINFER_JIT_DEBUG": "",
    "FLASHINFER_JIT_LINEINFO": "",
    "FLASHINFER_JIT_VERBOSE": "",
    "FLASHINFER_DISABLE_JIT": "",
    "FLASHINFER_DISABLE_VERSION_CHECK": "",
    "FLASHINFER_WORKSPACE_BASE": "",
    "FLASHINFER_LOGGING_LEVEL": "",
    "FLASHINFER_LOGLEVEL": "none: calls are not logged; FICTL_LOGGING_LEVEL is about builds",
    "FLASHINFER_LOGDEST": "none: calls are not logged",
    "FLASHINFER_DUMP_DIR": _NO_DUMPS,
    "FLASHINFER_DUMP_INCLUDE": _NO_DUMPS,
    "FLASHINFER_DUMP_EXCLUDE": _NO_DUMPS,
    "FLASHINFER_DUMP_MAX_COUNT": _NO_DUMPS,
    "FLASHINFER_DUMP_MAX_SIZE_GB": _NO_DUMPS,
    "FLASHINFER_DUMP_SAFETENSORS": _NO_DUMPS,
    "FLASHINFER_TRACE_DUMP": _NO_TRACES,
    "FLASHINFER_TRACE_DUMP_DIR": _NO_TRACES,
    "FLASHINFER_VALIDATE_INPUTS": "none: arguments are always checked",
    "FLASHINFER_AUTOTUNER_LOAD_FROM_FILE": "none: there is no tuner",
    "FLASHINFER_CUBIN_DIR": _NO_CUBINS,
    "FLASHINFER_CUBINS_REPOSITORY": _NO_CUBINS,
    "FLASHINFER_CUBIN_CHECKSUM_DISABLED": _NO_CUBINS,
    "FLASHINFER_CUBIN_DOWNLOAD_THREADS": _NO_CUBINS,
    "FLASHINFER_NO_DOWNLOAD": _NO_CUBINS,
    "FLASHINFER_DSL_FMHA_LOCAL_DIR": _NO_SUCH_KERNEL,
    "FLASHINFER_FMHA_V2_VERBOSE": _NO_SUCH_KERNEL,
    "FLASHINFER_TOPK_ALGO": _NO_SUCH_KERNEL,
    "FLASHINFER_USE_CUDA_NORM": _NO_SUCH_KERNEL,
    "FLASHINFER_ROUTING_FORCE_BLOCK_PER_TOKEN": _NO_SUCH_KERNEL,
    "FLASHINFER_B12X_MICRO_SHARE_INPUT": _NO_SUCH_KERNEL,
    "FLASHINFER_B12X_FORCE_MOE_W4A16": _NO_SUCH_KERNEL,
}


def counterpart(theirs: str) -> str:
    return theirs.replace("FLASHINFER_", "FICTL_")
