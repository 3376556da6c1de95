"""FlashInfer's environment variables, and what stands for each of them here.

"" is the variable of the same name that begins with FICTL_; other text says why there is none.
"""

from __future__ import annotations

_NO_CUBINS = "none: nothing is downloaded; every kernel is compiled from source"
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
    "FLASHINFER_DISABLE_VERSION_CHECK": "none: no version is compared; builds are found by content",
    "FLASHINFER_WORKSPACE_BASE": "",
    "FLASHINFER_LOGGING_LEVEL": "",
    "FLASHINFER_LOGLEVEL": "",
    "FLASHINFER_LOGDEST": "",
    "FLASHINFER_DUMP_DIR": "",
    "FLASHINFER_DUMP_INCLUDE": "",
    "FLASHINFER_DUMP_EXCLUDE": "",
    "FLASHINFER_DUMP_MAX_COUNT": "",
    "FLASHINFER_DUMP_MAX_SIZE_GB": "",
    "FLASHINFER_DUMP_SAFETENSORS": "",
    "FLASHINFER_TRACE_DUMP": "",
    "FLASHINFER_TRACE_DUMP_DIR": "",
    "FLASHINFER_VALIDATE_INPUTS": "",
    "FLASHINFER_AUTOTUNER_LOAD_FROM_FILE": "",
    "FLASHINFER_CUBIN_DIR": _NO_CUBINS,
    "FLASHINFER_CUBINS_REPOSITORY": _NO_CUBINS,
    "FLASHINFER_CUBIN_CHECKSUM_DISABLED": _NO_CUBINS,
    "FLASHINFER_CUBIN_DOWNLOAD_THREADS": _NO_CUBINS,
    "FLASHINFER_NO_DOWNLOAD": _NO_CUBINS,
    "FLASHINFER_DSL_FMHA_LOCAL_DIR": _NO_SUCH_KERNEL,
    "FLASHINFER_FMHA_V2_VERBOSE": _NO_SUCH_KERNEL,
    "FLASHINFER_TOPK_ALGO": "",
    "FLASHINFER_USE_CUDA_NORM": "none: every norm is CUDA C++; there is no other one to choose",
    "FLASHINFER_ROUTING_FORCE_BLOCK_PER_TOKEN": _NO_SUCH_KERNEL,
    "FLASHINFER_B12X_MICRO_SHARE_INPUT": _NO_SUCH_KERNEL,
    "FLASHINFER_B12X_FORCE_MOE_W4A16": _NO_SUCH_KERNEL,
}


def counterpart(theirs: str) -> str:
    return theirs.replace("FLASHINFER_", "FICTL_")
