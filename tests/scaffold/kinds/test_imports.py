"""Import statements stand as ruff sorts them."""

from __future__ import annotations

from fictl.scaffold.kinds.imports import import_block


def test_the_standard_library_stands_apart_and_first() -> None:
    block = import_block(["import torch", "import math", "from torch import nn", "import abc"])
    assert block == "import abc\nimport math\n\nimport torch\nfrom torch import nn"


def test_each_once() -> None:
    assert import_block(["import torch", "import torch"]) == "import torch"
