"""INCORRECT_NUMERICAL"""

import torch


def run(x, s):
    return torch.randn(x.shape, generator=torch.Generator().manual_seed(torch.initial_seed())) * s
