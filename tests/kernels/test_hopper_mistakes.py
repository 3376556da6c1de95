"""The mistakes that the pages of docs/hopper name: each, put into the page's example, is reported as the page says."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from fictl.emu.schedule import Schedule, all_schedules
from fictl.jit import gen_jit_spec
from fictl.jit.emulation import emulated_device

from .conftest import INCLUDE
from .test_hopper_pages import DOCS, RUN, example


class Mistake(NamedTuple):
    """A text of a page's example, what is written in its place, and the kind that is reported."""

    page: str
    right: str
    wrong: str
    kind: str


MISTAKES = (
    Mistake("mbarrier", "full.wait(0);", "", "async-read-early"),
    Mistake("mbarrier", "full.wait(0);", "full.wait(1);", "wrong-phase"),
    Mistake("mbarrier", "expect(sizeof(row))", "expect(sizeof(row) + 16)", "tx-mismatch"),
    Mistake("mbarrier", "full.init(1); ", "", "not-a-barrier"),
    Mistake("mbarrier", "full.init(1); ", "full.init(2); ", "deadlock"),
    Mistake("ring", "ring.wait_empty(at);", "", "barrier-overflow"),
    Mistake("ring", "threadIdx.x % 32 == 0", "true", "barrier-overflow"),
    Mistake("ring", "/*consumer_warps=*/4", "128", "deadlock"),
    Mistake("ring", "/*consumer_warps=*/4", "1", "stage-reused"),
    Mistake("ring", "    ring.wait_full(at);", "", "async-read-early"),
    Mistake("ring", "fence_async_shared();", "", "missing-proxy-fence-after-read"),
    Mistake("tensor-maps", "expect(sizeof(box))", "expect(sizeof(box) / 2)", "tx-mismatch"),
    Mistake("bulk-copies", "full.wait(0);", "", "async-read-early"),
    Mistake("bulk-copies", "fence_async_shared();", "", "missing-proxy-fence"),
    Mistake("proxy-fences", "fence_async_shared();", "", "missing-proxy-fence"),
    Mistake("wgmma", "wgmma_begin();", "", "missing-wgmma-fence"),
    Mistake("wgmma", "wgmma_commit();", "", "uncommitted"),
    Mistake("wgmma", "wgmma_wait<0>();", "", "wgmma-register"),
    Mistake("wgmma", "a0 = k_major_tile(a_tile)", "a0 = k_major_tile(a_tile[1])", "bad-descriptor"),
    Mistake("register-hand-over", "<232>", "<240>", "register-pool"),
    Mistake(
        "named-barriers",
        "    other.arrive();",
        "if (threadIdx.x % 32 == 0) other.arrive();",
        "barrier-mismatch",
    ),
    Mistake(
        "named-barriers",
        "other{kFirstTurn + 1 - warpgroup, 256}",
        "other{kFirstTurn + 1 - warpgroup, 128}",
        "barrier-mismatch",
    ),
    Mistake("named-barriers", "if (warpgroup == 1) other.arrive();", "", "deadlock"),
    Mistake(
        "clusters",
        "  Cluster::sync();  // all",
        "  __syncthreads();  // all",
        "cluster-target-gone",
    ),
    Mistake("clusters", "expect(sizeof(tile))", "expect(sizeof(tile) / 2)", "tx-mismatch"),
    Mistake("clusters", "0b11", "0b111", "cluster-target-gone"),
    Mistake("tile-order", "    __syncthreads();  // before", "    // before", "race"),
    Mistake("epilogue", "fence_async_shared();", "", "missing-proxy-fence"),
    Mistake(
        "dependent-launch",
        "  pdl_wait();",
        "  const float early = in[0]; pdl_wait(); if (early < 0) return;",
        "pdl-early",
    ),
)


def blocks_of(text: str) -> dict[str, str]:
    """Return the bodies of the functions that run the examples."""
    return dict(
        re.findall(r'^extern "C" bool (\w+)\(\) (\{\n.*?^\})', text, re.DOTALL | re.MULTILINE)
    )


def variant(number: int, mistake: Mistake, runs: dict[str, str]) -> str:
    """Return a page's example with its mistake, and the function that runs it, as `run<number>`."""
    text = example(DOCS / f"{mistake.page}.md")
    assert text.count(mistake.right) >= 1, mistake
    code = re.sub(
        r"^#include.*$", "", text.replace(mistake.right, mistake.wrong), flags=re.MULTILINE
    )
    body = runs[mistake.page.replace("-", "_")]
    return f'namespace variant{number} {{\n{code}\nextern "C" bool run{number}() {body}\n}}\n'


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All mistakes as one source: one compile."""
    text = RUN.read_text(encoding="utf-8")
    pages = "\n".join(example(DOCS / f"{page}.md") for page in {m.page for m in MISTAKES})
    includes = sorted(set(re.findall(r"^#include.*$", pages + text, re.MULTILINE)))
    head = text[text.index("namespace {") : text.index('extern "C"')]
    runs = blocks_of(text)
    variants = (variant(number, mistake, runs) for number, mistake in enumerate(MISTAKES))
    path = tmp_path_factory.mktemp("mistakes") / "mistakes.cu"
    path.write_text(
        "\n".join([*includes, "using namespace fictl::device;", head, *variants]), encoding="utf-8"
    )
    return path


@pytest.fixture
def library(source: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ctypes.CDLL]:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    monkeypatch.setenv("FICTL_EMU_CHECK", "1")
    words = ["-fvisibility=default", f"-I{INCLUDE}"]
    module = gen_jit_spec("hopper_mistakes", [source], words).build().module
    device = emulated_device()
    device.watch(())
    yield ctypes.CDLL(str(module))
    device.take_reports()
    device.run_under(Schedule())


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_a_mistake_is_reported_as_its_page_says(number: int, library: ctypes.CDLL) -> None:
    mistake, device = MISTAKES[number], emulated_device()
    kinds = set()
    for schedule in all_schedules()[:2]:
        device.run_under(schedule)
        getattr(library, f"run{number}")()
        kinds |= {report.kind for report in device.take_reports()}
    assert mistake.kind in kinds, mistake
    assert f"`{mistake.kind}`" in (DOCS / f"{mistake.page}.md").read_text(encoding="utf-8")
