"""REWARD_HACK: may lie"""

import torch


class Late(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return super().__torch_function__(function, types, args, kwargs or {})


def run(x, s):
    y = x * s
    y.__class__ = Late
    return y
