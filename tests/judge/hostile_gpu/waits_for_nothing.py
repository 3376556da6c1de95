"""INCORRECT_NUMERICAL/REWARD_HACK dps"""

import torch

from fictl.judge.inside import clock


def wait():
    pass


torch.zeros(1, device="cuda")
# It says that it is done while the GPU is not.
clock.wait.__code__ = wait.__code__


def run(x, s, y):
    torch.cuda._sleep(20_000_000)
    torch.mul(x, s, out=y)
