"""INCORRECT_DTYPE/REWARD_HACK"""

from concurrent.futures import ThreadPoolExecutor

POOL = ThreadPoolExecutor(1)


def run(x, s):
    return POOL.submit(lambda: x * s)
