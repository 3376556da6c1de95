"""Why the planner makes no plan: its numbers, in words."""

from __future__ import annotations

from .lengths import Lengths

# By the kind that plan.cuh gives.
_WORDS = (
    "",
    "argument '{qo}' goes from {bound} to {seen} at request {request}; it starts at 0 or later and "
    "never falls",
    "argument '{kv}' goes from {bound} to {seen} at request {request}; it starts at 0 or later and "
    "never falls",
    "argument '{last}' is {seen} at request {request}; it is 1 to page_size, which is {bound}",
    "argument '{lens}' is {seen} at request {request}, whose pages hold 0 to {bound} keys",
    "request {request} needs the number {seen}; rows, keys, mask bytes and blocks are counted by "
    "int32",
    "argument '{qo}' has {seen} queries; the first plan() of this wrapper for CUDA graphs had "
    "{bound}, and no later one may have more",
    "the plan has {seen} items of work, for which CUDA graphs have room for {bound}; leave "
    "fixed_split_size out, or make it larger",
    "the plan has {seen} rows of partial results, for which CUDA graphs have room for {bound}; "
    "leave fixed_split_size out, or make it larger",
)


def refusal(op: str, lengths: Lengths, kind: int, numbers: list[int]) -> ValueError:
    """Make the error for what the planner has refused."""
    qo, kv, last, lens = lengths.names
    request, seen, bound = numbers
    if lengths.shift is not None:
        request = int(lengths.shift.requests[request])
    words = _WORDS[kind].format(
        qo=qo, kv=kv, last=last, lens=lens, request=request, seen=seen, bound=bound
    )
    return ValueError(f"{op}: {words}")
