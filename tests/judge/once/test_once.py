"""What is equal is built once, and nobody's bytes get into another's build."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from fictl.judge import Judge
from fictl.judge.once.builder import Builder
from fictl.judge.process.order_desk import NotBuilt
from fictl.judge.process.spawn import zygote
from fictl.judge.reference import Reference
from fictl.trace import Solution

from ..judge_runs import WORKLOAD, definition, said, solution
from .ordered import BROKEN, CPP, QUICK, SECONDS, WRONG, building, built, cpp, evaluated

# A solution that writes to the socket of orders itself, what `forged` says.
FORGER = """
import os, socket, stat
def parcel(data):
    handle = os.memfd_create("x", os.MFD_ALLOW_SEALING)
    os.write(handle, data)
    return handle
for number in reversed(range(100)):  # It is the last one that was received.
    try:
        if stat.S_ISSOCK(os.fstat(number).st_mode):
            break
    except OSError:
        pass
end = socket.socket(fileno=os.dup(number))
assert end.type == socket.SOCK_SEQPACKET
{forged}
def run(x, s):
    return x * s
"""


@pytest.fixture(scope="module")
def reference() -> Iterator[Reference]:
    with Reference(definition(), "cpu") as made:
        yield made


def judging(tried: Solution, builder: Builder, reference: Reference) -> Judge:
    return Judge(definition(), tried, QUICK, builder=builder, reference=reference)


def test_equal_sources_are_built_once_whatever_they_are_called(reference: Reference) -> None:
    with building() as (builder, shelf):
        for one in ("first", "second", "third"):
            found = evaluated(cpp(name=one), builder, reference)
            assert found.status.value == "PASSED", said(found)
            assert found.fictl is not None
            assert found.fictl["build_seconds"] > 0
        assert len(built(shelf)) == 1


def test_a_changed_header_is_another_build_under_the_same_name(reference: Reference) -> None:
    with building() as (builder, shelf):
        assert evaluated(cpp(WRONG), builder, reference).status.value == "INCORRECT_NUMERICAL"
        assert evaluated(cpp(), builder, reference).status.value == "PASSED"
        assert len(built(shelf)) == 2


def test_what_does_not_build_is_compiled_once_and_fails_with_its_first_error(
    reference: Reference,
) -> None:
    with building() as (builder, shelf):
        for name in ("first", "second"):
            found = evaluated(cpp(BROKEN, name), builder, reference)
            assert found.status.value == "COMPILE_ERROR"
            assert "nobody's" in found.log.splitlines()[0]
        assert len(built(shelf)) == 1


def test_a_solution_that_waits_leaves_no_process(reference: Reference) -> None:
    with building() as (builder, _), judging(cpp(), builder, reference) as judge:
        with pytest.raises(NotBuilt) as missing:
            judge.evaluate(WORKLOAD)
        assert judge._process is None
        assert builder.wait(missing.value.key, SECONDS)
        assert judge.evaluate(WORKLOAD).status.value == "PASSED"


def test_no_solution_sees_the_shelf(reference: Reference) -> None:
    if "landlock" not in zygote().policy.label and "mountns" not in zygote().policy.label:
        pytest.skip("this machine has no sandbox")
    with building() as (builder, shelf):
        evaluated(cpp(), builder, reference)
        (key,) = built(shelf)
        looks = f"""
import os
def seen(path):
    try:
        return os.path.exists(path) and os.listdir(path)
    except OSError:
        return []
print("saw", seen({str(shelf.folder)!r}), seen({str(shelf.folder / key)!r}))
def run(x, s):
    return x * s
"""
        found = evaluated(solution(looks), builder, reference)
        assert "saw False False" in found.log or "saw [] []" in found.log


@pytest.mark.parametrize(
    "forged",
    [
        'end.send(b"garbage")',
        'socket.send_fds(end, [b"order"], [parcel(b"{}")])',
        "end.close()",
    ],
)
def test_what_is_no_order_harms_nobody_else(forged: str, reference: Reference) -> None:
    with building() as (builder, shelf):
        found = evaluated(solution(FORGER.format(forged=forged)), builder, reference)
        assert found.status.value == "PASSED", said(found)
        assert not any(path.suffix == ".so" for path in shelf.folder.rglob("*"))
        assert evaluated(cpp(), builder, reference).status.value == "PASSED"


def test_an_order_that_says_what_its_files_are_not_builds_nothing(reference: Reference) -> None:
    """The attacker's files, with the hashes, names and flags of the victim's order."""
    victim = cpp()
    with building() as (builder, shelf):
        order = _order(victim, builder, reference)
        lie = {**order, "files": {**order["files"], "./factor.h": WRONG}}
        forged = f"socket.send_fds(end, [b'order'], [parcel({json.dumps(lie).encode()!r})])"
        found = solution(FORGER.format(forged=forged))
        with judging(found, builder, reference) as judge, pytest.raises(NotBuilt) as missing:
            judge.evaluate(WORKLOAD)
        assert builder.wait(missing.value.key, SECONDS)
        delivery = shelf.find(missing.value.key)
        assert delivery is not None
        assert delivery.is_own
        assert delivery.module is None
        assert evaluated(victim, builder, reference).status.value == "PASSED"


def test_files_that_no_include_names_make_another_order(reference: Reference) -> None:
    """A header behind a macro is in no recipe: it must be in the key, or come to nobody else."""
    source = CPP.replace('"factor.h"', "HEADER")
    hidden = f'#define HEADER "factor.h"\n{source}'
    with building() as (builder, _):
        first = evaluated(cpp(WRONG, source=hidden), builder, reference)
        second = evaluated(cpp(source=hidden), builder, reference)
    assert (first.status.value, second.status.value) == ("INCORRECT_NUMERICAL", "PASSED")


def _order(victim: Solution, builder: Builder, reference: Reference) -> dict:
    """The order of a solution, as its process sends it."""
    seen: list[dict] = []
    deliver = builder.deliver

    def spying(key, order, walls):  # type: ignore[no-untyped-def]
        seen.append(dict(order))
        return deliver(key, order, walls)

    builder.deliver = spying  # type: ignore[method-assign]
    evaluated(victim, builder, reference)
    builder.deliver = deliver  # type: ignore[method-assign]
    return seen[0]


def test_a_builder_that_is_closed_leaves_nothing(reference: Reference) -> None:
    with building() as (builder, shelf):
        tried = judging(cpp(), builder, reference)
        with tried as judge, pytest.raises(NotBuilt):
            judge.evaluate(WORKLOAD)
    assert not shelf.folder.exists()
    assert not any(thread.is_alive() for thread in builder._threads)
