"""Values survive JSON; what does not is named, and a file cannot name what the op does not know."""

from __future__ import annotations

import json
import math
from enum import Enum, IntEnum, IntFlag
from typing import Any

import pytest
import torch

from fictl.op.watch.dump.record import Refused
from fictl.op.watch.dump.values import Decoder, Encoder, Opaque


class Mode(Enum):
    TOP = "top"


class Level(IntEnum):
    LOW = 1


class Bits(IntFlag):
    A = 1
    B = 2


ENUMS = {(kind.__module__, kind.__qualname__): kind for kind in (Mode, Level, Bits)}


def decode(encoded: Any, tensors: dict[str, torch.Tensor] | None = None) -> Any:
    return Decoder(tensors or {}, ENUMS, "cpu").decode(json.loads(json.dumps(encoded)))


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        False,
        0,
        -3,
        1 << 70,
        0.1,
        math.inf,
        -math.inf,
        "",
        "über",
        Mode.TOP,
        Level.LOW,
        Bits.A,
        torch.bfloat16,
        torch.float8_e4m3fn,
        [1, [2.5, None]],
        (1, ("a",)),
        {"a": (1, 2), "tensor": "x"},
        [],
        (),
        {},
    ],
    ids=repr,
)
def test_a_value_comes_back_with_its_type(value: Any) -> None:
    found = decode(Encoder().encode(value, "x"))
    assert found == value
    assert type(found) is type(value)


def test_nan_comes_back() -> None:
    assert math.isnan(decode(Encoder().encode(math.nan, "x")))


@pytest.mark.parametrize(("kind", "plain"), [("int64", 3), ("float32", 0.5)])
def test_numbers_of_numpy_become_plain_ones(kind: str, plain: Any) -> None:
    value = getattr(pytest.importorskip("numpy"), kind)(plain)
    found = decode(Encoder().encode(value, "x"))
    assert (found, type(found)) == (plain, type(plain))


def test_a_tensor_is_kept_by_where_it_stands() -> None:
    encoder, x = Encoder(), torch.ones(3)
    encoded = encoder.encode({"pages": [x, 2]}, "cache")
    assert list(encoder.tensors) == ["cache.pages.0"]
    assert decode(encoded, encoder.tensors)["pages"][0] is encoder.tensors["cache.pages.0"]


def test_the_same_elements_under_two_names_stay_one_tensor() -> None:
    encoder, x = Encoder(), torch.ones(3)
    assert encoder.encode(x, "input") == encoder.encode(x.view(3), "out") == {"tensor": "input"}
    assert encoder.encode(x[:2], "part") == {"tensor": "part"}


def test_places_that_are_written_alike_do_not_collide() -> None:
    encoder = Encoder()
    encoder.encode({"a.0": torch.ones(1), "a": [torch.zeros(1)]}, "x")
    assert list(encoder.tensors) == ["x.a.0", "x.a.0_"]


@pytest.mark.parametrize(
    "value",
    [object(), Bits.A | Bits.B, {1: 2}, torch.ones(2, device="meta"), torch.eye(2).to_sparse()],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_kept_is_named_by_its_type(value: Any) -> None:
    name = f"{type(value).__module__}.{type(value).__qualname__}"
    assert decode(Encoder().encode(value, "x")) == Opaque(name)


def test_what_is_nested_too_deeply_is_not_kept() -> None:
    value: Any = 1
    for _ in range(20):
        value = [value]
    assert '"opaque"' in json.dumps(Encoder().encode(value, "x"))


@pytest.mark.parametrize("device", ["cuda", "cuda:3"])
def test_a_gpu_becomes_the_device_of_the_replay(device: str) -> None:
    assert decode(Encoder().encode(torch.device(device), "x")) == torch.device("cpu")


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else 1


@pytest.mark.parametrize(
    ("hostile", "said"),
    [
        ({"enum": ["os", "system", "TOP"]}, "os.system.TOP is not an enum that the op knows"),
        ({"enum": [Mode.__module__, "Mode", "__class__"]}, "not an enum that the op knows"),
        ({"enum": ["a", "b"]}, "a module, a class and a member"),
        ({"tensor": "nowhere"}, "the tensor 'nowhere' is in no file"),
        ({"tensor": ["x"]}, "is not text"),
        ({"dtype": "load"}, "'load' is not a dtype"),
        ({"dtype": "__file__"}, "is not a dtype"),
        ({"device": "no such thing"}, "is not a device"),
        ({"float": "__import__('os')"}, "unknown kind 'float'"),
        ({"pickle": "x"}, "unknown kind 'pickle'"),
        ({"tuple": 3}, "is not text"),
        ({"a": 1, "b": 2}, "needs one"),
        ({}, "needs one"),
        (nested(50), "nested deeper than 8"),
    ],
)
def test_what_nobody_encodes_is_refused(hostile: Any, said: str) -> None:
    with pytest.raises(Refused, match=said.replace("(", r"\(")):
        decode(hostile)
