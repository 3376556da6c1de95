"""Which commands a request is."""

from __future__ import annotations

from fictl.watch.request import WatchRequest


def words(request: WatchRequest) -> dict[str, str]:
    return {step.name: " ".join(step.words) for step in request.steps()}


def test_by_default_it_is_all_three() -> None:
    assert words(WatchRequest(("scale", "norm"), "cuda")) == {
        "build": "build scale norm --json --device cuda",
        "test": "test scale norm --json --device cuda --timeout=300",
        "bench": "bench scale norm --json --device cuda --max-time=0.5",
    }


def test_steps_may_be_left_out_and_narrowed() -> None:
    assert [*words(WatchRequest(("scale",), "emu", test=False, bench=False))] == ["build"]
    narrow = words(WatchRequest(("scale",), "emu", "a or b", "16,32", timeout=5.0, bench_time=0.1))
    assert narrow["test"].endswith("--timeout=5 -k a or b")
    assert narrow["bench"].endswith("--max-time=0.1 --case=16,32")
