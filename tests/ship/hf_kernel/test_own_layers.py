from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.project import find
from fictl.ship.hf_kernel.own_layers import own_layers


@pytest.mark.parametrize(
    "line", ["import numpy", "from fictl.op import op", "from .op import f", "from .. import g"]
)
def test_layers_that_import_what_is_not_there_are_refused(tiny: Path, line: str) -> None:
    (folder,) = find("twice")
    (folder.path / "layers.py").write_text(f"import torch\n{line}\n")
    with pytest.raises(UsageError, match="which is not there where the export is used"):
        own_layers(folder)


def test_layers_go_along_as_they_are(tiny: Path) -> None:
    (folder,) = find("twice")
    assert own_layers(folder) == ""
    text = "import math\nimport torch.nn\nfrom . import twice\n"
    (folder.path / "layers.py").write_text(text)
    assert own_layers(folder) == text
