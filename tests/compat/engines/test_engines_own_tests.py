"""An engine's own tests of its FlashInfer backend, where the engine is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.skipif(find_spec("sglang") is None, reason="needs SGLang: pip install sglang")
def test_sglang_s_kit_passes_on_the_emulated_device(users_cache: None) -> None:
    environment = {**os.environ, "FICTL_DEVICE": "emu"}
    command = [sys.executable, "-m", "tests.compat.engines.sglang_backend"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
