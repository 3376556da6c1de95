"""Where the time of a place goes while it evaluates: a spread sample of what fictl ships, by parts.

python tests/perf/slots.py [DATASET] --sample 40 --limit 300 --save slots.json
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import islice, pairwise, zip_longest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# A place that does nothing for longer waits for a build.
_GAP_SECONDS = 2.0
_PATIENCE = 60.0


@dataclass(frozen=True)
class Slot:
    """One evaluation. `seconds` by `spent`; `turns` has the parts of its turns; `end` is a time."""

    definition: str
    op_type: str
    workload: str
    status: str
    seconds: float
    spent: dict[str, float]
    turns: dict[str, float]
    end: float
    log: str = ""  # of one that did not pass: why


def spread(root: Path, count: int, op_types: Sequence[str]) -> tuple[list[str], Counter[str]]:
    """Choose definitions, one of each op type after the other; count the workloads of op types."""
    from fictl.trace import TraceSet

    dataset = TraceSet.from_path(root)
    groups: defaultdict[str, list[str]] = defaultdict(list)
    workloads: Counter[str] = Counter()
    for name in sorted(dataset.definitions):
        op_type = dataset.definitions[name].op_type
        if not op_types or op_type in op_types:
            groups[op_type].append(name)
            workloads[op_type] += sum(1 for _ in dataset.workloads(name))
    turns = zip_longest(*(_scattered(groups[op_type]) for op_type in sorted(groups)))
    return [*islice((name for turn in turns for name in turn if name), count)], workloads


def _scattered(names: list[str]) -> list[str]:
    """Order names so that any number of the first ones lie apart."""
    middle = len(names) // 2
    rest = names[:middle], names[middle + 1 :]
    if not names:
        return []
    parts = [_scattered(part) for part in rest]
    return [names[middle], *(name for pair in zip_longest(*parts) for name in pair if name)]


def with_checkout() -> dict[str, str]:
    """Return the environment of children: this checkout before what else they import."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path}


def run(root: Path, chosen: list[str], device: str, limit: float, jobs: int) -> float:
    """Evaluate until the limit; return the seconds. What ended is in the dataset."""
    argv = [sys.executable, "-m", "fictl", "dataset", "run", str(root), "--json"]
    argv += ["--definitions", ",".join(chosen), "--device", device, "--jobs", str(jobs)]
    start = time.monotonic()
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(argv, env=with_checkout(), stdout=out)
        try:
            child.wait(limit)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGINT)
            child.wait(_PATIENCE)
        finally:
            child.kill()
        seconds = time.monotonic() - start
        out.seek(0)
        _say_what_is_missing(out.read().decode())
    return seconds


def _say_what_is_missing(document: str) -> None:
    """Print what the run says of evaluations that it has not made; it says nothing where it was ended."""
    try:
        data = json.loads(document)["data"]
        missing = [*data["left_out"], *(one["error"] for one in data["outcomes"] if one["error"])]
    except (ValueError, KeyError, TypeError):
        missing = ["the run was ended at its limit"]
    print(*missing[:20], sep="\n")


def slots(root: Path) -> list[Slot]:
    """Read the results, in the order of their ends."""
    from fictl.trace import TraceSet

    definitions = TraceSet.from_path(root).definitions
    found = []
    for path in root.glob("traces/**/*.jsonl"):
        for trace in map(json.loads, path.open(encoding="utf-8")):
            evaluation, name = trace["evaluation"], trace["definition"]
            facts: dict[str, Any] = evaluation["fictl"]
            slot = Slot(
                name,
                definitions[name].op_type,
                trace["workload"]["uuid"],
                evaluation["status"],
                facts["seconds"],
                facts["spent"],
                facts["turns"],
                datetime.fromisoformat(evaluation["timestamp"]).timestamp(),
                "" if evaluation["status"] == "PASSED" else str(evaluation.get("log", ""))[-500:],
            )
            found.append(slot)
    return sorted(found, key=lambda slot: slot.end)


def gaps(found: Sequence[Slot]) -> list[float]:
    """Return the seconds between evaluations, without those in which a place waits for a build."""
    between = [b.end - b.seconds - a.end for a, b in pairwise(found)]
    return [gap for gap in between if gap < _GAP_SECONDS]


def starts(device: str) -> dict[str, float]:
    """Return the seconds in which the processes of so many evaluations are ready."""
    from fictl.judge.process.spares import For, Spares
    from fictl.judge.process.spawn import zygote

    zygote()
    seconds = {}
    for count in (1, 4, 8):
        spares = Spares(For(device), ahead=count)
        spares.reference_stays = True
        start = time.monotonic()
        spares.refill()
        for spare in spares._spares:
            spare.is_ready()
        seconds[f"{count} processes ready"] = time.monotonic() - start
        start = time.monotonic()
        spares.close()
        seconds[f"{count} processes ended"] = time.monotonic() - start
    for after in (0.1, 0.3, 0.5, 0.8):
        seconds[f"4 processes stopped {after} s after they began"] = _stopped(device, after)
    return seconds


def _stopped(device: str, after: float) -> float:
    """Return the seconds in which processes that are starting stop."""
    from fictl.judge.process.spares import For, Spares

    spares = Spares(For(device), ahead=4)
    spares.reference_stays = True
    spares.refill()
    time.sleep(after)
    start = time.monotonic()
    with spares.quiet():
        seconds = time.monotonic() - start
    spares.close()
    return seconds


def recordings() -> dict[str, float]:
    """Return the seconds in which CUPTI begins and ends, and in which the clocks are read."""
    import torch

    from fictl.judge.inside.clock import clock
    from fictl.judge.modes import TIMED
    from fictl.timing.gpu_clocks import gpu_clocks

    seconds = {}
    torch.zeros(1, device="cuda")
    for number in ("first", "second", "third"):
        start = time.monotonic()
        with clock("cuda", TIMED) as timer:
            seconds[f"{number} {type(timer).__name__} begins"] = time.monotonic() - start
        seconds[f"{number} recording begins and ends"] = time.monotonic() - start
        start = time.monotonic()
        gpu_clocks()
        seconds[f"{number} read of the clocks"] = time.monotonic() - start
    return seconds


def expected(found: Sequence[Slot], gap: float, workloads: Counter[str]) -> float:
    """Return the seconds of the whole dataset: each op type by its own mean, the others by all."""
    by_type: defaultdict[str, list[float]] = defaultdict(list)
    for slot in found:
        by_type[slot.op_type].append(slot.seconds + gap)
    mean = statistics.mean(slot.seconds + gap for slot in found)
    return sum(
        count * (statistics.mean(by_type[op_type]) if by_type[op_type] else mean)
        for op_type, count in workloads.items()
    )


def _table(title: str, parts: Iterable[dict[str, float]]) -> None:
    rows = [*parts]
    names = sorted(
        {name for row in rows for name in row},
        key=lambda name: -sum(row.get(name, 0.0) for row in rows),
    )
    print(f"\n{title:14}{'median':>9}{'mean':>9}{'p90':>9}{'most':>9}")
    for name in names:
        _row(name, [row.get(name, 0.0) for row in rows])


def _row(name: str, values: Sequence[float]) -> None:
    ordered = sorted(values)
    p90 = ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))]
    mean, median = statistics.mean(ordered), statistics.median(ordered)
    print(f"{name:14}{median:>9.3f}{mean:>9.3f}{p90:>9.3f}{ordered[-1]:>9.3f}")


def report(found: Sequence[Slot], workloads: Counter[str], whole: float) -> dict[str, Any]:
    between = gaps(found)
    gap = statistics.median(between) if between else 0.0
    statuses = Counter(slot.status for slot in found)
    print(f"{len(found)} evaluations in {whole:.0f} s: {dict(statuses)}")
    for slot in found:
        if slot.log:
            print(f"{slot.status} {slot.definition} {slot.workload}: {slot.log.strip()}")
    busy = sum(slot.seconds for slot in found) + gap * len(found)
    print(f"the place had {busy:.0f} s of it; the rest: waits for builds, tries that were put off")
    print(f"{'seconds':14}{'median':>9}{'mean':>9}{'p90':>9}{'most':>9}")
    _row("an evaluation", [slot.seconds for slot in found])
    if between:
        _row("between them", between)
    _table("part", [slot.spent for slot in found])
    _table("of turns", [slot.turns for slot in found])
    print("\nthe longest")
    for slot in sorted(found, key=lambda slot: -slot.seconds)[:8]:
        print(f"{slot.seconds:8.2f} s  {slot.definition}  {slot.workload}")
        print(f"{'':10}{slot.spent}\n{'':10}turns {slot.turns}")
    seconds = expected(found, gap, workloads)
    total = sum(workloads.values())
    print(
        f"\n{total} workloads: {seconds / 60:.1f} minutes of one place, {seconds / total:.2f} s each"
    )
    return {
        "seconds": whole,
        "expected_seconds": seconds,
        "workloads": total,
        "gaps": between,
        "evaluations": [asdict(slot) for slot in found],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", nargs="?", type=Path, help="default: exports what fictl ships")
    parser.add_argument("--device", default="", help="default: cuda if there is a GPU, else emu")
    parser.add_argument("--sample", type=int, default=40, help="so many definitions")
    parser.add_argument("--op-type", default="", help="only these, several between commas")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds of the run")
    parser.add_argument("--jobs", type=int, default=0, help="so many builds at once")
    parser.add_argument("--save", type=Path, help="write everything as JSON")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    from fictl.toolchain import visible_gpus

    device = options.device or ("cuda" if visible_gpus() else "emu")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "dataset"
        if options.dataset is None:
            argv = [sys.executable, "-m", "fictl", "dataset", "export", "--out", str(root)]
            subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, env=with_checkout())
        else:  # A copy without results; links out of a dataset are refused.
            for part in ("definitions", "solutions", "workloads", "blob"):
                shutil.copytree(options.dataset / part, root / part)
        op_types = [*filter(None, options.op_type.split(","))]
        chosen, workloads = spread(root, options.sample, op_types)
        alone = starts(device)
        whole = run(root, chosen, device, options.limit, options.jobs)
        found = slots(root)
        if not found:
            print("no evaluation ended: a longer --limit, or fewer definitions")
            return 1
        alone |= recordings() if device == "cuda" else {}
        print(*(f"{what}: {seconds:.4f} s" for what, seconds in alone.items()), sep="\n")
        document = {"device": device, **alone, **report(found, workloads, whole)}
    if options.save:
        options.save.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
