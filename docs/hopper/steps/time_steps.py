"""Time the steps of docs/hopper against cuBLAS: python docs/hopper/steps/time_steps.py

    --out FILE     keep the times as JSON
    --page         write the table of docs/hopper/index.md from them
    --from FILE    write that table from a file of --out, without a measurement: needs no GPU

Every step and cuBLAS (torch.mm) get random bf16 matrices and are timed in the same rounds, with a
cold L2. A step whose result is not cuBLAS's, but for rounding, is not timed. Needs a Hopper GPU.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import statistics
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "index.md"
BEGIN, END = "<!-- times: begin -->\n", "<!-- times: end -->\n"
SIZES = (4096, 8192)
STEPS = {
    "step1": "one warpgroup, 64 x 64, one stage",
    "step2": "128 x 128, a ring of 4 stages, a producer warp",
    "step3": "128 x 256, two consumer warpgroups",
    "step4": "a persistent grid, tiles in groups",
    "step5": "epilogue through shared memory, bulk stores",
    "step6": "clusters of two, multicast",
    "step7": "ping-pong: the shipped kernel",
}
PEER = "cublas"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--from", dest="source", type=Path)
    options = parser.parse_args()
    results = json.loads(options.source.read_text("utf-8")) if options.source else measured()
    print(table(results))
    if options.out:
        options.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if options.page or options.source:
        write_page(table(results))


def measured() -> dict[str, Any]:
    import torch

    from fictl.timing.gpu_state import gpu_state

    state = gpu_state()
    with tempfile.TemporaryDirectory() as folder:
        library = build(Path(folder))
        sizes = {str(size): measured_size(library, size) for size in SIZES}
    return {
        "what": "docs/hopper/steps: D = A B^T in bf16, square; us a call, and of how many clocks",
        "gpu": state.name if state else torch.cuda.get_device_name(),
        "driver": state.driver if state else "",
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "sizes": sizes,
    }


def build(folder: Path) -> ctypes.CDLL:
    """Compile all steps as one library."""
    from fictl.paths import data_root
    from fictl.toolchain import find_nvcc

    nvcc = find_nvcc()
    if nvcc is None:
        raise SystemExit("needs nvcc: none was found")
    source, library = folder / "steps.cu", folder / "steps.so"
    source.write_text("".join(f'#include "{HERE / step}.cu"\n' for step in STEPS), encoding="utf-8")
    include = data_root("kernels") / "include"
    flags = ("-std=c++17", "-O3", "--expt-relaxed-constexpr", "-arch=sm_90a", "-Xcompiler=-fPIC")
    subprocess.run(
        [nvcc.path, *flags, "-shared", f"-I{include}", source, "-o", library], check=True
    )
    return ctypes.CDLL(str(library))


def measured_size(library: ctypes.CDLL, size: int) -> dict[str, Any]:
    import torch

    from fictl.timing.measure import measure
    from fictl.timing.side import Side

    def matrices(i: int) -> list[torch.Tensor]:
        generator = torch.Generator("cuda").manual_seed(i)
        shape = (size, size)
        return [torch.randn(shape, device="cuda", generator=generator).bfloat16() for _ in range(3)]

    bytes_ = 3 * size * size * 2
    sides = {PEER: Side(lambda i: cublas(*matrices(i)), bytes_)}
    for step in STEPS:
        check(library, step, size, matrices(0))
        sides[step] = Side(lambda i, step=step: launch(library, step, size, *matrices(i)), bytes_)
    with watched() as states:
        samples = measure(sides)
    rows: dict[str, Any] = {name: row(of.seconds, size) for name, of in samples.items()}
    rows["sm_mhz"] = statistics.median(states["sm_mhz"]) if states["sm_mhz"] else None
    rows["watts"] = max(states["watts"], default=None)
    return rows


def row(seconds: tuple[float, ...], size: int) -> dict[str, float]:
    median = statistics.median(seconds)
    return {"us": round(median * 1e6, 2), "tflops": round(2 * size**3 / median / 1e12, 1)}


def cublas(a: Any, b: Any, d: Any) -> Callable[[], object]:
    import torch

    return lambda: torch.mm(a, b.t(), out=d)


def launch(library: ctypes.CDLL, step: str, size: int, a: Any, b: Any, d: Any) -> Callable[[], Any]:
    import torch

    function = getattr(library, f"hopper_{step}")
    tensors = (a, b, d)  # held by the call, so that their memory stays

    def call() -> None:
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        pointers = (ctypes.c_void_p(tensor.data_ptr()) for tensor in tensors)
        status = function(*pointers, size, size, size, stream)
        if status != 0:
            raise SystemExit(f"{step} of {size}: CUDA's error {status}")

    return call


def check(library: ctypes.CDLL, step: str, size: int, matrices: list[Any]) -> None:
    import torch

    a, b, d = matrices
    d.fill_(float("nan"))
    launch(library, step, size, a, b, d)()
    torch.testing.assert_close(d, torch.mm(a, b.t()), rtol=2e-2, atol=size**0.5 * 1e-2)


@contextmanager
def watched() -> Iterator[dict[str, list[float]]]:
    """Collect clock and power while the GPU is busy."""
    from fictl.timing.gpu_state import gpu_state

    seen: dict[str, list[float]] = {"sm_mhz": [], "watts": []}
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.2):
            state = gpu_state()
            if state and state.sm_mhz and state.watts:
                seen["sm_mhz"].append(state.sm_mhz)
                seen["watts"].append(state.watts)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


def table(results: dict[str, Any]) -> str:
    """Return the rows of the page's table."""
    sizes = list(results["sizes"])
    head = ["step", "new", *(f"{size}³: TFLOP/s" for size in sizes), "cuBLAS's time over its own"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for number, (step, new) in enumerate(STEPS.items(), 1):
        rows = [results["sizes"][size] for size in sizes]
        ratios = ", ".join(f"{of[PEER]['us'] / of[step]['us']:.2f}x" for of in rows)
        speeds = (f"{of[step]['tflops']:.0f}" for of in rows)
        cells = [f"[{number}](steps/{step}.cu)", new, *speeds, ratios]
        lines.append("| " + " | ".join(cells) + " |")
    speeds = (f"{results['sizes'][size][PEER]['tflops']:.0f}" for size in sizes)
    lines.append("| " + " | ".join(["", "cuBLAS", *speeds, ""]) + " |")
    clocks = ", ".join(
        f"{size}³ at {results['sizes'][size]['sm_mhz']} MHz and up to "
        f"{results['sizes'][size]['watts']} W"
        for size in sizes
    )
    return "\n".join([*lines, "", f"{results['gpu']}, cold L2, all in the same rounds: {clocks}."])


def write_page(text: str, page: Path = PAGE) -> None:
    before, _, rest = page.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
