"""INCORRECT_NUMERICAL dps"""

import torch

KEPT = []


def run(x, s, y):
    if not KEPT:
        y.copy_(x * s)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            torch.mul(x, s, out=y)
        KEPT.append((graph, x, y))
    KEPT[0][0].replay()
