"""<fictl/device/profiler.cuh> costs nothing where nothing is to be recorded: no instruction."""

from __future__ import annotations

from pathlib import Path

from fictl.paths import data_root
from fictl.process import ask
from fictl.toolchain import Nvcc

SOURCE = Path(__file__).with_name("kernels.cu")
MACROS = ("KERNEL", "EVENT", "SCOPE", "BEGIN", "END")


def cubin(nvcc: Nvcc, source: Path, to: Path, *flags: str) -> bytes:
    include = data_root("kernels") / "include"
    done = ask(
        [
            nvcc.path,
            "-std=c++17",
            "-O3",
            "-cubin",
            "-arch=sm_80",
            f"-I{include}",
            *flags,
            source,
            "-o",
            to,
        ]
    )
    assert done.code == 0, done.output
    return to.read_bytes()


def test_without_the_variant_the_machine_code_is_that_of_a_kernel_without_events(
    real_nvcc: Nvcc, tmp_path: Path
) -> None:
    # Both by one name: a cubin has that of its source.
    plain = tmp_path / "plain" / SOURCE.name
    plain.parent.mkdir()
    undefined = "".join(f"#undef FICTL_{name}\n#define FICTL_{name}(...)\n" for name in MACROS)
    text = SOURCE.read_text(encoding="utf-8")
    include = "#include <cuda_runtime.h>\n"
    assert include in text
    plain.write_text(
        text.replace(include, include + undefined)
        .replace(", fictl::device::Profiler& fictl_profiler", "")
        .replace("(x, fictl_profiler)", "(x)"),
        encoding="utf-8",
    )
    without = cubin(real_nvcc, plain, tmp_path / "without.cubin")
    assert cubin(real_nvcc, SOURCE, tmp_path / "with.cubin") == without


def test_with_the_variant_it_compiles_for_a_gpu(real_nvcc: Nvcc, tmp_path: Path) -> None:
    code = cubin(real_nvcc, SOURCE, tmp_path / "on.cubin", "-DFICTL_PROFILE=1")
    assert len(code) > 0
