"""RUNTIME_ERROR: SIGABRT"""

import os


def run(x, s):
    os.abort()
