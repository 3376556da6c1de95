"""TIMEOUT"""

import ctypes
import signal


def run(x, s):
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    ctypes.CDLL(None).pause()
