"""PASSED sandboxed"""

import ctypes
import errno

LIBC = ctypes.CDLL(None, use_errno=True)
REFUSED = {
    "ptrace": 101,
    "process_vm_readv": 310,
    "userfaultfd": 323,
    "perf_event_open": 298,
    "io_uring_setup": 425,
    "bpf": 321,
    "keyctl": 250,
    "kexec_load": 246,
}

for name, number in REFUSED.items():
    if LIBC.syscall(number, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() != errno.EPERM:
        raise SystemError(f"{name} is not refused: {ctypes.get_errno()}")


def run(x, s):
    return x * s
