"""REWARD_HACK/PASSED"""

import torch


def run(x, s):
    y = torch.nn.Parameter(x * s)
    y.register_hook(lambda grad: grad)
    return y
