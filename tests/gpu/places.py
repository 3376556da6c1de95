"""A dataset run, a bench and a tune on a place for each GPU here: by a launch command, and by Ray.

    python tests/gpu/places.py --save docs/results/<day>-<gpus>-places.json
    python tests/gpu/places.py --device emu    # tries it on two emulated places

Every run is of the same few ops. What is kept: seconds of each command, evaluations by place, and the
rows of the bench. Ray is left out where it is not installed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
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

_FICTL = (sys.executable, "-m", "fictl")
_JUDGED, _BENCHED, _TUNED = "packbits", ("scale", "segment_sum"), "segment_sum"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", choices=("cuda", "emu"), default="cuda")
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    os.environ[settings.DEVICE.name] = options.device
    gpus = [gpu.name for gpu in visible_gpus()]
    count = len(gpus) if options.device == "cuda" else 2
    found: dict[str, Any] = {"gpus": gpus}
    with tempfile.TemporaryDirectory(prefix="fictl-places-") as folder:
        dataset = Path(folder, "exported")
        _fictl("dataset", "export", _JUDGED, "--out", str(dataset))
        found["launch command"] = _through(_places(Path(folder), count), dataset)
        if find_spec("ray"):
            with _cluster(count) as address:
                found["Ray"] = _through(address, dataset)
    print(json.dumps(found, indent=1))
    if options.save:
        options.save.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return int(any(one["code"] for way in ("launch command", "Ray") for one in found.get(way, ())))


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
    said = _fictl("farm", "up", "-n", str(nodes)).stdout
    try:
        yield re.findall(r"ray://\S+", said)[0]
    finally:
        _fictl("farm", "down")


def _through(places: str, exported: Path) -> list[dict[str, Any]]:
    judged = exported.with_name("judged")
    shutil.rmtree(judged, ignore_errors=True)
    shutil.copytree(exported, judged)
    return [
        _run(places, "dataset", "run", str(judged)),
        _run(places, "bench", *_BENCHED, "--baseline", "torch", "--max-time", "0.2", "--json"),
        _run(places, "tune", _TUNED),
    ]


def _run(places: str, *words: str) -> dict[str, Any]:
    start = time.monotonic()
    done = _fictl(*words, "--on", places)
    said = done.stdout + done.stderr
    one: dict[str, Any] = {
        "command": f"fictl {' '.join(words[:2])}",
        "code": done.returncode,
        "seconds": round(time.monotonic() - start, 1),
        "at": Counter(re.findall(r"  at (\S+)", said)),
    }
    if "--json" in words and not done.returncode:
        rows = json.loads(done.stdout)["data"]["rows"]
        one["rows"] = [
            {name: row.get(name) for name in ("place", "case", "side", "median")} for row in rows
        ]
    if done.returncode:
        one["said"] = said[-2000:]
    return one


def _fictl(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*_FICTL, *words], capture_output=True, text=True, check=False)


if __name__ == "__main__":
    sys.exit(main())
