"""REWARD_HACK: launched nothing"""

import threading

RESULT = []


def work(x, s):
    RESULT.append(x * s)


def run(x, s):
    worker = threading.Thread(target=work, args=(x, s))
    worker.start()
    worker.join()
    return RESULT.pop()
