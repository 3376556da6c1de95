"""Each name is where FlashInfer 0.7.2 has it, and nowhere else; what is not here says so."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from types import ModuleType

import pytest

import fictl.op
import fictl.ops
import fictl.testing
from fictl.compat import flashinfer
from fictl.compat.flashinfer._engines import needed
from fictl.compat.flashinfer._listing import modules
from fictl.compat.flashinfer._names import PACKAGE, TOP, recorded, theirs
from fictl.project import Project
from fictl.project.discover import functions
from fictl.project.shared import shared

MODULES = list(modules())
OURS = {declaration.name for _, declaration in functions(Project.shipped())}
OURS |= {name for _, _, name in shared(Project.shipped())}
SERVED = [(module, name) for module in MODULES for name in dir(import_module(module))]
# Where no module of ours stands for theirs, nothing of ours is missed.
PLACES = [
    (module, name)
    for module in MODULES
    for name in sorted(recorded()[theirs(module)])
    if name in OURS
]


def test_every_module_is_one_of_flashinfer_s() -> None:
    assert not [module for module in MODULES if theirs(module) not in recorded()]


@pytest.mark.parametrize("module", MODULES)
def test_a_module_offers_what_flashinfer_s_has_and_nothing_else(module: str) -> None:
    place = theirs(module)
    prefix = "" if place == TOP else f"{place}."
    for name in dir(import_module(module)):
        assert name in recorded()[place] or f"{prefix}{name}" in recorded()


@pytest.mark.parametrize(("module", "name"), SERVED, ids=[f"{m}.{n}"[13:] for m, n in SERVED])
def test_what_is_offered_can_be_had(module: str, name: str) -> None:
    found = import_module(module)
    assert hasattr(found, name)
    space: dict[str, object] = {}
    exec(f"from {module} import {name}", space)
    assert space[name] == getattr(found, name)


@pytest.mark.parametrize(("module", "name"), PLACES, ids=[f"{m}.{n}"[13:] for m, n in PLACES])
def test_an_op_is_at_each_place_that_flashinfer_has(module: str, name: str) -> None:
    found = getattr(import_module(module), name)
    if isinstance(found, ModuleType):
        assert found.__name__ == f"{module}.{name}"  # topk, of which FlashInfer has both.
    elif name in dir(fictl.ops):
        assert found is getattr(fictl.ops, name)


def test_no_op_that_flashinfer_has_is_without_a_place() -> None:
    known = {name for names in recorded().values() for name in names}
    assert OURS & known <= {name for _, name in PLACES}


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("norm", ["top_k_renorm_probs", "apply_rope"]),
        ("utils", ["Draws", "Op", "op", "module_spec", "draws", "KernelModule", "make_inputs"]),
        ("topk", ["top_k_renorm_probs", "top_k_mask_logits", "top_k_sampling_from_probs"]),
        ("page", ["BatchDecodeWithPagedKVCacheWrapper", "top_k_page_table_transform"]),
        ("jit", ["Template", "BuildFailed", "write_if_different"]),
        ("testing", ["assert_close", "make_inputs", "is_sm90a_supported"]),
    ],
)
def test_a_name_is_not_where_only_its_letters_fit(module: str, names: list[str]) -> None:
    found = import_module(f"{PACKAGE}.{module}")
    assert not [name for name in names if hasattr(found, name)]


def test_what_flashinfer_s_pages_import_is_there_too() -> None:
    from fictl.compat.flashinfer import _names
    from fictl.compat.flashinfer.jit import define_variant

    assert _names.DOCUMENTED == {"jit": ("define_variant",)}
    assert define_variant is fictl.ops.define_variant


def test_what_is_fictl_s_alone_is_not_offered() -> None:
    assert not {"scale", "swiglu", "SegmentSum", "per_tensor_quant_fp8"} & {*dir(flashinfer)}


MISSING = [
    (module, name)
    for module in MODULES
    for name in sorted(recorded()[theirs(module)] - {*dir(import_module(module))})
]


def test_what_flashinfer_has_and_fictl_has_not_is_said_in_words() -> None:
    assert len(MISSING) > 300
    for module, name in MISSING:
        found = import_module(module)
        assert not hasattr(found, name)
        with pytest.raises(AttributeError, match=rf"has no '{name}': FlashInfer 0\.7\.2 has it, "):
            getattr(found, name)


@pytest.mark.parametrize(
    "module", [m for m in MODULES if any(each == m for each, _ in MISSING)], ids=lambda m: m[13:]
)
def test_an_import_says_the_same(module: str) -> None:
    prefix = "" if theirs(module) == TOP else f"{theirs(module)}."
    name = next(n for each, n in MISSING if each == module and f"{prefix}{n}" not in needed())
    with pytest.raises(
        ImportError, match=f"has no '{name}': FlashInfer 0.7.2 has it, fictl does not"
    ):
        exec(f"from {module} import {name}")


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (
            "from {} import mla",
            "has no 'mla': FlashInfer 0.7.2 has it, fictl does not; planned: MLA",
        ),
        ("import {}.mla", "has no 'mla': FlashInfer 0.7.2 has it, fictl does not; planned: MLA"),
        ("from {} import mm_fp4", "has no 'mm_fp4': .* for Blackwell GPUs only"),
        ("from {}.norm import top_k", "there it is in flashinfer and flashinfer.topk"),
        ("from {}.jit import gen_pod_module", "compiles an op at its first call"),
        ("from {} import rmsnrm", "did you mean 'rmsnorm'"),
        ("from {} import trtllm_something", "has no 'trtllm_something'$"),
        ("from {} import artifacts", "there are no cubins here"),
        ("from {}.api_logging import replay_from_dump", "fictl replay DIR"),
    ],
)
def test_what_is_said(statement: str, said: str) -> None:
    with pytest.raises(ImportError, match=said):
        exec(statement.format(PACKAGE))


def test_a_module_that_is_not_here_is_not_found_as_anywhere() -> None:
    import importlib.util

    assert importlib.util.find_spec(f"{PACKAGE}.mla") is None
    with pytest.raises(
        ModuleNotFoundError, match=r"has no 'mla': FlashInfer 0\.7\.2 has it, .*MLA"
    ):
        import_module(f"{PACKAGE}.mla")
    with pytest.raises(ModuleNotFoundError, match=r"^No module named '.*flashinfer\.nonsense'$"):
        import_module(f"{PACKAGE}.nonsense")


def test_importing_a_module_does_not_hide_a_function_of_its_name() -> None:
    code = (
        f"import {PACKAGE} as f, pkgutil, importlib\n"
        "for each in pkgutil.walk_packages(f.__path__, f.__name__ + '.'):\n"
        "    importlib.import_module(each.name)\n"
        "assert callable(f.quantization.packbits) and callable(f.fi_trace), 'hidden'\n"
        "assert callable(f.topk.topk) and callable(f.autotune)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_import_loads_neither_ops_nor_the_tools() -> None:
    code = (
        "import sys, torch\n"
        f"import {PACKAGE} as f, {PACKAGE}.utils, {PACKAGE}.norm, {PACKAGE}.testing\n"
        "assert f.__version__\n"
        "ours = {name for name in sys.modules if name.startswith('fictl.')}\n"
        "print(sorted(name for name in ours if not name.startswith('fictl.compat')))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_import_is_small() -> None:
    """Modules that are not there with torch: seven of ours, and nothing else."""
    code = (
        "import sys, torch\n"
        "before = {*sys.modules}\n"
        f"import {PACKAGE}\n"
        "print(*sorted(name for name in {*sys.modules} - before))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = ("_absent", "_lists", "_names", "_served")
    ours = {"fictl", "fictl.compat", PACKAGE, *(f"{PACKAGE}.{name}" for name in names)}
    assert {*done.stdout.split()} == ours


def test_private_names_are_no_business_of_the_list() -> None:
    with pytest.raises(AttributeError, match=r"has no '_get_range_buf'$"):
        _ = flashinfer._get_range_buf
    assert not hasattr(flashinfer.norm, "__wrapped__")
