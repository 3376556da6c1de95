"""PASSED 4ms dps"""

import ctypes
import time

import torch

RUNTIME = ctypes.CDLL(None)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def slowly(_):
    time.sleep(0.005)


def run(x, s, y):
    """Work of the CPU between kernels, which no kernel's time shows."""
    driver = ctypes.CDLL("libcuda.so.1")
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    driver.cuLaunchHostFunc(stream, slowly, None)
    torch.mul(x, s, out=y)
