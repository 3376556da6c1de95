"""TIMEOUT"""

import os
import signal


def run(x, s):
    os.kill(os.getpid(), signal.SIGSTOP)
    return x * s
