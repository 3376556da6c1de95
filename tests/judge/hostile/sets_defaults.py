"""PASSED"""

import random

import torch

torch.set_default_dtype(torch.float64)
torch.backends.cudnn.deterministic = True
torch.manual_seed(0)
random.seed(0)


def run(x, s):
    return x * s
