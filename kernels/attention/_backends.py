"""The kernels that plan() chooses from, and the words of `backend=` that ask for them."""

from __future__ import annotations

from fictl.op import PlannedBackends

from ._tiles import MOST_HEADS_ON_CUDA_CORES


def _fits_cuda_cores(group: int, q_len: int, misfit: str) -> bool | str:
    if q_len > 1:
        return f"{q_len} queries a request"
    if misfit:
        return misfit
    return group <= MOST_HEADS_ON_CUDA_CORES or f"{group} heads to one of the keys"


# Tensor cores come first even where 15 of 16 rows are empty: an H200 takes 125 us for 16 requests
# of 2048 keys of 32 heads, and 142 us on CUDA cores. Those are for who asks for them.
DECODE = PlannedBackends(
    {"tensor_cores": "", "cuda_cores": ""},
    facts=("group", "q_len", "misfit"),
    checks={"cuda_cores": _fits_cuda_cores},
    names={"fa2": ("cuda_cores", "tensor_cores")},
    why={"auto": "faster for any number of heads", "tensor_cores": "use_tensor_cores=True"},
)

# One kernel so far; a Hopper kernel is a line here, "sm90": "9.0a", before "sm80".
PREFILL = PlannedBackends({"sm80": ""}, names={"fa2": ("sm80",)})


def check_backend(op: str, backend: str, known: PlannedBackends) -> None:
    """Refuse the backends of FlashInfer that are other libraries."""
    if backend not in known.words:
        raise NotImplementedError(
            f"{op}: argument 'backend' is {backend!r}, which is another library's; there are "
            f"{' and '.join(map(repr, known.words))}, both fictl's own kernels"
        )
