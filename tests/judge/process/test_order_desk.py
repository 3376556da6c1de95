"""What comes to the judge's end of orders, from whomever."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import ClassVar

import pytest

from fictl.judge.process import order_desk
from fictl.judge.process.order_desk import Deliver, Delivery, OrderDesk
from fictl.judge.process.parcel import packed, unpacked


class Customer:
    """The other end, and what the desk was asked for."""

    all: ClassVar[list[Customer]] = []

    def __init__(self, deliver: Deliver | None = None) -> None:
        ours, self.end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.desk = OrderDesk(ours)
        self.keys: list[str] = []
        self.all.append(self)
        if deliver is not None:
            self.desk.open(lambda key, order: self.keys.append(key) or deliver(key, order))

    def send(self, data: bytes, line: bytes = b"order") -> None:
        handle = packed(BytesIO(data))
        socket.send_fds(self.end, [line], [handle])
        os.close(handle)

    def answer(self) -> tuple[dict, list[int]]:
        self.end.setblocking(False)
        line, handles, _, _ = socket.recv_fds(self.end, 1 << 18, 1)
        return json.loads(line), handles


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    while Customer.all:
        customer = Customer.all.pop()
        customer.desk.close()
        customer.end.close()


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "module.so"
    path.write_bytes(b"module")
    return path


def test_a_module_comes_in_memory_that_nobody_can_change(module: Path) -> None:
    customer = Customer(lambda key, order: Delivery(module, seconds=2.0))
    customer.send(b"{}")
    assert customer.desk.hear()
    answer, (handle,) = customer.answer()
    assert (answer["own"], customer.desk.seconds) == (False, 2.0)
    assert os.pread(handle, 100, 0) == b"module"
    again = os.open(f"/proc/self/fd/{handle}", os.O_RDWR)
    for change in (
        lambda: os.write(handle, b"x"),
        lambda: os.write(again, b"x"),
        lambda: os.ftruncate(again, 0),
    ):
        with pytest.raises(OSError, match=r"not permitted|Bad file descriptor"):
            change()
    assert module.read_bytes() == b"module"
    os.close(handle)
    os.close(again)


def test_who_has_to_wait_is_told_nothing() -> None:
    customer = Customer(lambda key, order: None)
    customer.send(b"{}")
    assert not customer.desk.hear()
    assert [customer.desk.waits_for] == customer.keys
    with pytest.raises(BlockingIOError):
        customer.answer()


def test_without_a_builder_the_process_builds_itself() -> None:
    customer = Customer()
    customer.send(b"{}")
    assert customer.desk.hear()
    assert customer.answer()[0]["own"]


def test_who_orders_without_end_builds_itself(
    monkeypatch: pytest.MonkeyPatch, module: Path
) -> None:
    monkeypatch.setattr(order_desk, "_MOST_ORDERS", 1)
    customer = Customer(lambda key, order: Delivery(module))
    for is_own in (False, True):
        customer.send(b"{}")
        assert customer.desk.hear()
        answer, handles = customer.answer()
        assert answer["own"] is is_own
        assert [*map(os.close, handles)] == [None] * (not is_own)


def _parcel(data: bytes) -> list[int]:
    return [packed(BytesIO(data))]


def _large() -> list[int]:
    handle = os.memfd_create("large")
    os.ftruncate(handle, 1 << 40)
    return [handle]


GARBAGE: dict[str, Callable[[], list[int]]] = {
    "nothing": list,
    "a folder": lambda: [os.open("/", os.O_RDONLY)],
    "a pipe": lambda: [*os.pipe()][:1],
    "a device": lambda: [os.open("/dev/zero", os.O_RDONLY)],
    "two": lambda: _parcel(b"{}") * 2,
    "none": lambda: _parcel(b""),
    "half": lambda: _parcel(b"{"),
    "a list": lambda: _parcel(b"[1]"),
    "deep": lambda: _parcel(b"[" * 100_000),
    "no text": lambda: _parcel(b"\xff"),
    "a long number": lambda: _parcel(b"1" * 5000),
    "very large": _large,
}


@pytest.mark.parametrize("what", GARBAGE)
def test_what_is_no_order_ends_the_orders_of_this_process(what: str) -> None:
    handles = GARBAGE[what]()
    before = len([*Path("/proc/self/fd").iterdir()])
    customer = Customer(lambda key, order: Delivery())
    socket.send_fds(customer.end, [b"order"], handles)
    assert customer.desk.hear()
    assert not customer.desk.is_open
    assert customer.keys == []
    customer.end.close()
    assert len([*Path("/proc/self/fd").iterdir()]) == before  # Those that came are closed.


def test_a_process_that_has_gone_orders_nothing() -> None:
    customer = Customer(lambda key, order: Delivery())
    customer.end.close()
    assert customer.desk.hear()
    assert not customer.desk.is_open


def test_a_parcel_has_a_largest_size() -> None:
    with pytest.raises(ValueError, match="3 bytes"):
        unpacked(packed(BytesIO(b"123")), 2)
