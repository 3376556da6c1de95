"""SGLang's FlashInfer backend over fictl's names on the emulated device, by SGLang's own test kit.

The wheel has the kit: a runner with pools of pages and no model, cases, and references in torch.
Its Triton kernels run in Triton's interpreter; `python -m tests.compat.engines.sglang_backend` runs
its tests of this backend.
"""

from __future__ import annotations

import os
import sys
import unittest
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType

import torch

from .away import Away
from .stand_ins import stand_in

_ABSENT = (
    "IPython",
    "cuda",
    "pynvml",
    "sgl_kernel",
    "sglang_kernel",
    "torchao",
    "torchvision",
    "flashinfer_cubin",
)
_KIT = "sglang.test.kits.attention_unittest"


def install() -> None:
    """Let SGLang be imported without a GPU, with fictl's names for FlashInfer's."""
    os.environ.setdefault("TRITON_INTERPRET", "1")
    import transformers

    for word in ("AutoProcessor", "AutoImageProcessor", "AutoTokenizer", "AutoModel"):
        getattr(transformers, word)  # They look for installed modules: before there are others.
    stand_in(_ABSENT)
    import fictl.compat.flashinfer as names

    sys.modules["flashinfer"] = names
    from sglang.srt import utils
    from sglang.srt.utils import common

    utils.is_flashinfer_available = common.is_flashinfer_available = lambda: True


def kit(name: str) -> ModuleType:
    from importlib import import_module

    return import_module(f"{_KIT}.{name}")


def own_tests() -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the kit's cases of the backend: eager ones, CUDA graphs, windows, and drafts."""
    dense = kit("attention_methods.dense_attention")
    graphs = kit("runner_modes.cuda_graph_decode_runner")
    drafts = kit("runner_modes.speculative_target_verify_runner")
    test, on_cpu = unittest.TestCase(), {"device": "cpu"}
    windows = (
        *dense.make_swa_no_prefix_input_config_cases("flashinfer"),
        *dense.make_swa_prefix_input_config_cases("flashinfer"),
    )
    for case in (*dense.make_dense_cases("flashinfer"), *windows):
        yield case.name, partial(dense.run_dense_attention_case, test, case, **on_cpu)
        if case.forward_mode.is_decode():
            run = partial(graphs.run_dense_cuda_graph_decode_case, test, case, **on_cpu)
            yield f"{case.name} graph", run
    mode = kit("attention_methods.dense_attention").ForwardMode.TARGET_VERIFY
    for topk in (1, 2):
        case = dense.DenseAttentionCase(
            f"verify_topk{topk}", "flashinfer", mode, 4, 2, 1, (5, 9), (3, 3)
        )
        eager = partial(drafts.run_dense_eagle_verify_case, test, case, topk=topk, **on_cpu)
        yield case.name, eager
        graph = drafts.run_dense_spec_verify_cuda_graph_case
        yield f"{case.name} graph", partial(graph, test, case, topk=topk, **on_cpu)


def main() -> int:
    install()
    failed = 0
    for name, run in own_tests():
        try:
            away = Away()
            with away, away.truth(), torch.no_grad():
                run()
            word = "ok"
        except (Exception, unittest.SkipTest) as error:
            failed += 1
            word = f"{type(error).__name__}: {error}"[:300]
        print(f"{name}: {word}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
