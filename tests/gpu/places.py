"""A dataset run, a bench and a tune on a place for each GPU here: by a launch command, and by Ray.

    python tests/gpu/places.py --save docs/results/<day>-<gpus>-places.json
    python tests/gpu/places.py --device emu    # tries it on two emulated places

Every run is of the same few ops and cases. What is kept: seconds of each command, what was done by
place, and the rows of the bench. A command that has not ended after its limit is interrupted, and its
last lines are kept. Ray is left out where it is not installed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fictl import settings
from fictl.toolchain import visible_gpus
from fictl.version import describe

_FICTL = (sys.executable, "-m", "fictl")
_JUDGED = "packbits"
_BENCHED = ("scale", "segment_sum", "rmsnorm", "layernorm")
_CASES = "scale-262144-float16,6x37x64-float16,4x200x111-float16,4096-bfloat16"
_TUNED = ("segment_sum", "--dtype", "float16")
_LIMIT_S = 90


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", choices=("cuda", "emu"), default="cuda")
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    os.environ[settings.DEVICE.name] = options.device
    gpus = [gpu.name for gpu in visible_gpus()]
    count = len(gpus) if options.device == "cuda" else 2
    runs: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="fictl-places-") as folder:
        dataset = Path(folder, "exported")
        _fictl("dataset", "export", _JUDGED, "--out", str(dataset))
        for run in _runs(Path(folder), count, dataset):
            runs.append(run)
            ended = f"{run['seconds']:7.1f} s  exit {run['code']}  {dict(run['at'])}"
            print(f"{run['by']:15}{run['command']:24}{ended}", flush=True)
            if options.save:
                text = json.dumps({"gpus": gpus, "version": describe(), "runs": runs}, indent=1)
                options.save.write_text(text + "\n", encoding="utf-8")
    return int(any(run["code"] for run in runs))


def _runs(folder: Path, count: int, dataset: Path) -> Iterator[dict[str, Any]]:
    for run in _through(_places(folder, count), dataset):
        yield {"by": "launch command", **run}
    if find_spec("ray"):
        with _cluster(count) as address:
            for run in _through(address, dataset):
                yield {"by": "Ray", **run}


def _places(folder: Path, count: int) -> str:
    """Write a file of places, which a command starts: this machine's own, one a GPU."""
    each = f"{{0..{count - 1}}}"
    gpu = f'gpu = "{each}"\n' if settings.DEVICE.get() == "cuda" else ""
    text = (
        f'[[place]]\nname = "gpu-{each}"\n{gpu}'
        f'launch = ["env", "FICTL_PLACE_OF=command"]\npython = "{sys.executable}"\n'
    )
    file = folder / "places.toml"
    file.write_text(text, encoding="utf-8")
    return str(file)


@contextmanager
def _cluster(nodes: int) -> Iterator[str]:
    """Start a Ray cluster with a node for each GPU; the block has its address."""
    code, said, problem = _fictl("farm", "up", "-n", str(nodes))
    if code:
        sys.exit(problem)
    try:
        yield re.findall(r"ray://\S+", said)[0]
    finally:
        _fictl("farm", "down")


def _through(places: str, exported: Path) -> Iterator[dict[str, Any]]:
    judged = exported.with_name("judged")
    shutil.rmtree(judged, ignore_errors=True)
    shutil.copytree(exported, judged)
    timed = ("--case", _CASES, "--baseline", "torch", "--max-time", "0.2", "--json")
    yield _run(places, "dataset", "run", str(judged))
    yield _run(places, "bench", *_BENCHED, *timed)
    yield _run(places, "tune", *_TUNED)


def _run(places: str, *words: str) -> dict[str, Any]:
    start = time.monotonic()
    code, out, said = _fictl(*words, "--on", places)
    one: dict[str, Any] = {
        "command": f"fictl {' '.join(words[:2])}",
        "code": code,
        "seconds": round(time.monotonic() - start, 1),
        "at": Counter(re.findall(r"  at (\S+)", out + said)),
    }
    if "--json" in words and not code:
        rows = json.loads(out)["data"]["rows"]
        one["rows"] = [
            {name: row.get(name) for name in ("place", "case", "side", "median")} for row in rows
        ]
        one["at"] = Counter(row["place"] for row in rows)
    if code:
        one["said"] = (out + said)[-2000:]
    return one


def _fictl(*words: str) -> tuple[int, str, str]:
    """Run it, and interrupt it at the limit; return its exit code and what it said."""
    with subprocess.Popen(
        [*_FICTL, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            out, said = process.communicate(timeout=_LIMIT_S)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            out, said = process.communicate()
    return process.returncode, out, said


if __name__ == "__main__":
    sys.exit(main())
