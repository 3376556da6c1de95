"""RUNTIME_ERROR"""


class Trap(Exception):
    def __str__(self):
        raise SystemExit(0)


def run(x, s):
    raise Trap
