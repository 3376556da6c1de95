"""Tests of the kind gemm beside its golden tree."""

from __future__ import annotations

from pathlib import Path

from fictl.project import Project, folders
from fictl.scaffold.new.new_op import draft, plan_op
from fictl.scaffold.new.request import NewOpRequest
from fictl.scaffold.plan.write import apply


def _texts(project: Project) -> dict[str, str]:
    request = NewOpRequest("linear", kind="gemm")
    plan = plan_op(draft(project, request), polished=False)
    return {path.name: text for path, text in plan.files.items() if text is not None}


def test_architectures_that_were_asked_for_narrow_both_backends(project: Project) -> None:
    request = NewOpRequest("linear", kind="gemm", archs="9.0a")
    apply(plan_op(draft(project, request), polished=False), "new-op")
    (folder,) = folders(project)
    assert str(folder.archs) == "9.0a"


def test_each_dtype_and_backend_has_a_module(project: Project) -> None:
    texts = _texts(project)
    assert 'torch.float16: "__half", torch.bfloat16: "__nv_bfloat16"' in texts["jit.py"]
    assert '_BACKENDS = ("sm90", "sm80")' in texts["jit.py"]
    assert {"launcher_sm90.cu", "launcher_sm80.cu"} <= {*texts}


def test_the_kernel_page_is_short(project: Project) -> None:
    """The user's page is an epilogue; the kernels stay in fictl's headers."""
    assert len(_texts(project)["linear.cuh"].splitlines()) < 50


def test_the_cutlass_kind_has_its_own_launcher_alone(project: Project) -> None:
    request = NewOpRequest("linear", kind="cutlass")
    names = {Path(path).name for path in plan_op(draft(project, request), polished=False).files}
    assert "launcher.cu" in names
    assert not {"launcher_sm90.cu", "launcher_sm80.cu"} & names
