"""Check of every pair of GPUs: peer access, memory shared by CUDA IPC, and the speed of the link."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

from fictl.doctor.finding import DoctorFinding, error, ok, warning
from fictl.errors import FictlError
from fictl.process import run
from fictl.toolchain.links import Links, read_links

if TYPE_CHECKING:
    from fictl.doctor.facts import Facts

NAME = "GPU pairs"
_SECONDS = 60.0
# GB/s of one NVLink in one direction, from its third generation on.
_LINK_RATE = 25.0
_LEAST_SHARE = 0.6
_CONTAINER = "in a container: --ipc=host, and one namespace of processes for all ranks"

Answer = dict[str, Any]


def pairs(facts: Facts) -> Iterator[DoctorFinding]:
    """Test all pairs one after another: they share links."""
    numbers = [gpu.index for gpu in facts.gpus.gpus]
    if len(numbers) < 2:
        yield warning(NAME, f"{len(numbers)} GPU visible, no pair", "run it where there are more")
        return
    yield from judged({pair: ask(*pair) for pair in combinations(numbers, 2)}, read_links())


def ask(first: int, second: int, runner: Callable[..., Any] = run) -> Answer:
    """Run the probe of a pair in processes of its own, which may hang or die."""
    words = [sys.executable, "-m", "fictl.doctor.pair_probe", str(first), str(second)]
    try:
        done = runner(words, timeout=_SECONDS)
        answer = json.loads(done.output.strip().splitlines()[-1])
        return answer if isinstance(answer, dict) else {"problem": "no answer"}
    except FictlError as problem:
        return {"problem": problem.message}
    except (IndexError, ValueError):
        return {"problem": f"ended with {done.code}: {done.output.strip()[-200:]}"}


def judged(answers: dict[tuple[int, int], Answer], links: Links) -> Iterator[DoctorFinding]:
    """Yield a finding for each pair with a problem, and one for all that have none."""
    good = []
    for (first, second), answer in answers.items():
        link = links.get((first, second), "")
        problem = _problem(f"GPUs {first} and {second}{link and f' ({link})'}", answer, link)
        if problem is not None:
            yield problem
        else:
            good.append(f"GPU {first} - {second}: {_described(answer, link)}")
    if good:
        slowest = min(answer["read"] for answer in answers.values() if "read" in answer)
        text = f"{len(good)} of {len(answers)}: peer access, IPC, {slowest:.0f} GB/s and more"
        yield ok(NAME, text, *good)


def _problem(pair: str, answer: Answer, link: str) -> DoctorFinding | None:
    if "problem" in answer:
        return error(NAME, f"{pair}: {answer['problem']}", "nvidia-smi; sudo dmesg | grep -i xid")
    if not answer["peer"]:
        fix = "use GPUs with a link, or torch.distributed: nvidia-smi topo -p2p r shows why"
        return warning(NAME, f"{pair}: neither can access the other's memory", fix)
    if answer["ipc"]:
        return error(NAME, f"{pair}: memory cannot be shared: {answer['ipc']}", _CONTAINER)
    if answer["wrong"]:
        text = f"{pair}: {answer['wrong']} of 1048576 bytes are wrong"
        return error(NAME, text, "the link is faulty: nvidia-smi nvlink -e; turn ACS off in BIOS")
    wanted = _LEAST_SHARE * _LINK_RATE * int(link[2:]) if link.startswith("NV") else 0.0
    slow = min(answer["read"], answer["write"])
    if slow < wanted:
        text = f"{pair}: {slow:.0f} GB/s, of {_LINK_RATE * int(link[2:]):.0f}"
        return warning(NAME, text, "end what else uses the link; nvidia-smi nvlink -s")
    return None


def _described(answer: Answer, link: str) -> str:
    rates = f"read {answer['read']:.0f} GB/s, write {answer['write']:.0f} GB/s"
    return ", ".join(filter(None, (link, rates)))
