"PASSED"

import os

if not os.path.exists("d"):
    for _ in range(3000):
        os.mkdir("d")
        os.chdir("d")


def run(x, s):
    return x * s
