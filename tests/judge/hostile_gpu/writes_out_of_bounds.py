"""RUNTIME_ERROR dps"""

import torch


def run(x, s, y):
    torch.mul(x, s, out=y)
    index = torch.full((1,), 1 << 40, device="cuda")
    torch.gather(x.view(-1), 0, index)
