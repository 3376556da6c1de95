"""A reference of the user's: found, called, cut out, and said as the command line would."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from fictl.errors import FictlError, UsageError
from fictl.process import Finished
from fictl.project.python_source import SourceError
from fictl.scaffold.new.reference import ReadReference, call, child, read_reference

Read = Callable[..., ReadReference]


def in_this_process(argv: Sequence[str | Path], env: object, timeout: float) -> Finished:
    """What a process of its own would do; it takes seconds to import torch."""
    child.main([*map(str, argv[3:])])
    return Finished((), 0, "", 0.0)


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """The function `f` of a file."""
    monkeypatch.setattr("fictl.child.program.run", in_this_process)

    def of(text: str, example: str = "", **said: tuple[str, ...]) -> ReadReference:
        path = tmp_path / "ref.py"
        path.write_text(f"import torch\n{text}")
        return read_reference(f"{path}:f", example, **said)

    return of


def test_annotations_say_axes_and_defaults(read: Read) -> None:
    made = read(
        'def f(x: "n hidden", w: "hidden", eps: float = 1e-6) -> "n,hidden":\n'
        "    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * w\n"
    )
    assert made.inputs == ("x:n,hidden", "w:hidden")
    assert made.scalars == ("eps:float=1e-06",)
    assert made.outputs == ("out:n,hidden",)
    assert made.expression == "x * rsqrt(mean(x * x) + eps) * w"


def test_annotations_of_jaxtyping_need_no_jaxtyping_in_the_trace(read: Read) -> None:
    made = read(
        "class Float:\n    def __class_getitem__(cls, item): return item\n"
        "class Int32(Float): pass\n"
        'def f(x: Float[torch.Tensor, "n hidden"], ids: Int32[torch.Tensor, "n"])'
        ' -> Float[torch.Tensor, "n hidden//2"]:\n'
        "    return x[ids.long(), : x.shape[1] // 2]\n"
    )
    assert made.inputs == ("x:n,hidden", "ids:n:i32")
    assert made.outputs == ("out:n,hidden_over_2=hidden // 2",)
    assert "Float" not in made.reference.source


def test_an_example_gives_axes_where_equal_sizes_are_one(read: Read) -> None:
    made = read(
        "def f(x, w, factor):\n    return (x * w).sum(-1) * factor\n",
        "f(torch.randn(4, 64), torch.randn(64), 2.0)",
    )
    assert made.inputs == ("x:rows,hidden", "w:hidden")
    assert made.scalars == ("factor:float",)
    assert made.outputs == ("out:rows",)


def test_the_example_of_a_docstring_runs_on_the_cpu(read: Read) -> None:
    made = read(
        "def f(x: torch.Tensor, w: torch.Tensor):\n"
        '    """Scales.\n\n    >>> x = torch.randn(4, 64, device="cuda")\n'
        '    >>> y = f(x, torch.randn(64).cuda())\n    >>> y.shape\n    """\n'
        "    return torch.cumsum(x, 0) * w\n"
    )
    assert made.inputs == ("x:rows,hidden", "w:hidden")
    assert made.doc == "Scales."
    assert made.expression is None
    assert "no cumsum" in made.why_not


def test_what_can_only_go_element_by_element_needs_no_example(read: Read) -> None:
    made = read("def f(x, gate):\n    return x * torch.sigmoid(gate)\n")
    assert made.inputs == ("x:n", "gate:n")


def test_a_matrix_product_has_its_usual_axes(read: Read) -> None:
    made = read("def f(a, b):\n    return a @ b.T\n", "f(torch.randn(4, 8), torch.randn(16, 8))")
    assert (made.inputs, made.outputs, made.kind) == (("a:m,k", "b:n,k"), ("out:m,n",), "gemm")


def test_dtypes_that_are_not_the_inputs_own_are_said(read: Read) -> None:
    made = read('def f(x: "n d"):\n    return x, (x > 0).any(-1)\n')
    assert made.outputs == ("out_0:n,d", "out_1:n:b8")


def test_a_tuple_of_annotations_is_of_several_outputs(read: Read) -> None:
    made = read('def f(x: "n d") -> ("n d", "n"):\n    return x * 2, x.sum(-1)\n')
    assert made.outputs == ("out_0:n,d", "out_1:n")


def test_outputs_are_called_as_they_are_returned(read: Read) -> None:
    made = read('def f(x: "n d"):\n    y, top = x + 1, x.amax(-1)\n    return y, top\n')
    assert made.outputs == ("y:n,d", "top:n")


def test_it_is_cut_out_with_what_it_needs_and_nothing_else(read: Read) -> None:
    made = read(
        "import math\nimport os\nfrom torch.nn import functional as F\n"
        "SLOPE = 2.0\nOTHER = 3.0\n\n"
        "# As the paper has it.\ndef gate(y):\n    return SLOPE * F.silu(y)\n\n"
        "@torch.no_grad()\ndef f(x: 'n'):\n    '''It is this.'''\n"
        "    # In two steps.\n    y = gate(x)\n    return y + math.pi\n"
    )
    assert made.reference.imports == ("from torch.nn import functional as F", "import math")
    assert made.reference.source == (
        "_SLOPE = 2.0\n\n\n# As the paper has it.\ndef _gate(y):\n    return _SLOPE * F.silu(y)\n\n\n"
        "def _reference(x: torch.Tensor) -> torch.Tensor:\n"
        "    # In two steps.\n    y = _gate(x)\n    return y + math.pi"
    )


def test_names_that_c_plus_plus_has_are_others_everywhere(read: Read) -> None:
    made = read('def f(T: "n", shape: "n", double: float = 2.0):\n    return T * shape * double\n')
    assert made.inputs == ("t:n", "shape_in:n")
    assert made.scalars == ("double_in:float=2.0",)
    assert made.expression == "t * shape_in * double_in"
    ast.parse(made.reference.source)
    assert "return t * shape_in * double_in" in made.reference.source


def test_what_is_said_goes_before_annotations(read: Read) -> None:
    made = read('def f(x: "n d"):\n    return torch.cumsum(x, 0)\n', inputs=("x:tokens,d=128",))
    assert (made.inputs, made.outputs) == (("x:tokens,d=128",), ("out:tokens,d",))


def test_a_default_that_is_no_number_stays(read: Read) -> None:
    made = read(
        'def f(x: "n", how: str = "up", w: torch.Tensor | None = None):\n    return x + 1\n'
    )
    assert made.inputs == ("x:n",)
    head = 'def _reference(x: torch.Tensor, how: str = "up"'.replace('"', "'")
    assert made.reference.source.startswith(head)


@pytest.mark.parametrize(
    ("text", "example", "message"),
    [
        ("def f(x:\n", "", "not valid Python"),
        ("def g(x): return x\n", "", "no function 'f'"),
        ("def f(*xs): return xs\n", "", "any number of arguments, in 'xs'"),
        ("import no_such_module\ndef f(x): return x\n", "", "line 2: ModuleNotFoundError"),
        ('def f(x: "n"):\n    return x + torch.ones(3, 4, 5)[x]\n', "", "cannot be called: line 3"),
        ("def f(x): return torch.cumsum(x, 0)\n", "", "nothing says the shapes of x"),
        ("def f(x): return x\n", "f(1", "is not Python"),
        ("def f(x): return x\n", "g(torch.ones(2))", "does not call f"),
        ("def f(x): return x\n", "f(torch.ones(2), 3)", "cannot be called"),
        ("def f(x): return x.tolist()\n", "f(torch.ones(2))", "returns a number"),
        ("def f(x): pass\n", "f(torch.ones(2))", "returns a NoneType"),
        ("def f(x): return x.sum()\n", "f(torch.ones(2))", "a tensor without axes"),
        ("def f(x): return x.add_(1)\n", "f(torch.ones(2))", "changes its input x in place"),
        ("def f(x, how): return x\n", "f(torch.ones(2), 'up')", "how is a str"),
        (
            "def f(x): return torch.ones(17)\n",
            "f(torch.ones(2, 3))",
            "is 17, which follows from no axis",
        ),
    ],
)
def test_what_cannot_be_used_is_named(text: str, example: str, message: str, read: Read) -> None:
    with pytest.raises((UsageError, SourceError)) as error:
        read(text, example)
    assert message in error.value.message


def test_one_that_ends_its_process_or_hangs_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ref.py"
    path.write_text('import os\ndef f(x: "n"):\n    os._exit(3)\n')
    with pytest.raises(FictlError, match="ended its process, with 3"):
        read_reference(f"{path}:f")
    monkeypatch.setattr(call, "_SECONDS", 0.1)
    with pytest.raises(FictlError, match=r"did not return within 0\.1 s"):
        read_reference(f"{path}:f")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no file .*ref\.py"):
        read_reference(f"{tmp_path}/ref.py:f")


def test_no_file_and_function_says_the_form() -> None:
    with pytest.raises(UsageError, match=r"write FILE\.py:FUNCTION"):
        read_reference("my_function")


def test_an_import_from_beside_it_is_refused_with_its_line(read: Read, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("K = 2\n")
    with pytest.raises(UsageError, match=r"ref\.py:2: f uses 'from mine import K'"):
        read('from mine import K\ndef f(x: "n"):\n    return x * K\n')


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return torch.topk(x, 2)[0]", r"'torch\.topk\(x, 2\)': expressions have no topk"),
        ("return x.add_(1)", "f changes its input x in place"),
    ],
)
def test_where_a_kernel_is_needed_what_has_none_is_refused_before_shapes_are_asked_for(
    body: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "ref.py"
    path.write_text(f"import torch\n\n\ndef f(x):\n    {body}\n")
    with pytest.raises(UsageError, match=message):
        read_reference(f"{path}:f", needs_kernel=True)
    with pytest.raises(UsageError, match="nothing says the shapes of x"):
        read_reference(f"{path}:f")
