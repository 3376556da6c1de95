"""INCORRECT_NUMERICAL dps: wrote nothing"""

import ctypes

import torch

LIBC = ctypes.CDLL(None)
LIBC.mmap.restype = ctypes.c_void_p


def run(x, s, y):
    """Its own process sees the right outputs, the referee another memory."""
    LIBC.mmap(ctypes.c_void_p(y.data_ptr()), 4096, 3, 0x32, -1, 0)
    torch.mul(x, s, out=y)
