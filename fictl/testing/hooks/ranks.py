"""Ranks of a multi-GPU test: gates, and torch's process group for one test after another."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from fictl import settings
from fictl.ranks.group import watched_group
from fictl.ranks.rank import Rank, meeting_point
from fictl.ranks.witness import LATER_SECONDS
from fictl.testing.hooks.markers import gpus_of

if TYPE_CHECKING:
    from fictl.ranks.verdict import Verdict
    from fictl.ranks.witness import Witness

_WITNESS = pytest.StashKey["Witness"]()
_POLL_SECONDS = 0.02


def missing(item: pytest.Item) -> str:
    """Reason why a test with @pytest.mark.gpus(n) cannot run in this process, or ''."""
    wanted = gpus_of(item)
    if not wanted:
        return ""
    here = Rank.here()
    on_gpu = settings.DEVICE.get() == "cuda"
    if on_gpu and _visible() < (1 if here.size == wanted else wanted):
        return f"needs {wanted} GPUs, {_visible()} {'is' if _visible() == 1 else 'are'} visible"
    if here.size == wanted:
        return ""
    return f"needs {wanted} ranks, this is {here.rank} of {here.size}"


def _visible() -> int:
    from fictl.toolchain import visible_gpus

    return len(visible_gpus())


@pytest.fixture
def ranks() -> Rank:
    """Rank of this process among those that run the test."""
    return Rank.here()


@pytest.fixture(scope="session")
def _meeting_point() -> Any:
    """torch's key-value store that all ranks see."""
    return meeting_point(Rank.here(), settings.RANK_TIMEOUT.get() + LATER_SECONDS)


@pytest.fixture
def process_group(request: pytest.FixtureRequest, _meeting_point: Any) -> Iterator[Any]:
    """torch's default group of these ranks: nccl on GPUs, gloo emulated; a new one for each test."""
    import torch.distributed as dist

    here, item = Rank.here(), request.node
    with watched_group(here, _meeting_point, partial(_tell, item), name=item.nodeid) as witness:
        item.stash[_WITNESS] = witness
        yield dist.group.WORLD
        witness.doing = "waits at the end of the test"
        store = dist.PrefixStore(item.nodeid, _meeting_point)  # type: ignore[attr-defined]
        with suppress(RuntimeError):  # A rank that has ended has its own report.
            _meet(store, here, witness)
        if witness.ended:
            _end_early(item)


def explained(item: pytest.Item, error: BaseException) -> BaseException | None:
    """Return a failure that names the rank that caused an error of a collective, if one did."""
    witness = item.stash.get(_WITNESS, None)
    verdict = witness.explain(error) if witness is not None else None
    if verdict is None:
        return None
    _end_early(item)
    # Why without its cause: that is a page of what the transport saw.
    return pytest.fail.Exception(verdict.text).with_traceback(error.__traceback__)


def _meet(store: Any, here: Rank, witness: Witness) -> None:
    """Wait for all ranks, which must run the same test at the same time."""
    store.set(f"finished/{here.rank}", "")
    keys = [f"finished/{rank}" for rank in range(here.size)]
    deadline = time.monotonic() + settings.RANK_TIMEOUT.get() + LATER_SECONDS
    while not store.check(keys) and not witness.ended and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)


def _end_early(item: pytest.Item) -> None:
    """Run no more tests in this process: its ranks are out of step. `fictl test` starts others."""
    item.session.shouldfail = "the ranks are out of step"
    recorder = _recorder(item)
    if recorder is not None:
        recorder.has_more = True


def _recorder(item: pytest.Item) -> Any:
    from fictl.testing.hooks.record import RECORDER

    return item.config.pluginmanager.get_plugin(RECORDER)


def _tell(item: pytest.Item, verdict: Verdict) -> None:
    """Print a verdict, and record it for `fictl test`; this process ends next."""
    recorder = _recorder(item)
    if recorder is not None:
        recorder.told(verdict.text)
    capture: Any = item.config.pluginmanager.get_plugin("capturemanager")
    if capture is not None:
        capture.suspend_global_capture(in_=True)
    out = item.config.get_terminal_writer()
    out.write(f"\n{item.nodeid}: {verdict}\n", flush=True)
