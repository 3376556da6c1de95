"""A headless browser, where there is one: what a page comes to when its script has run.

A probe is a script that runs in a page beside the one it looks at, in a frame as wide as it says, and answers with JSON.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from .servers.static import static_server

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_PROBE = """<!doctype html><title>probe</title><pre></pre><script>
const open = async (address, width) => {
  const frame = document.createElement("iframe");
  Object.assign(frame, { width, height: 900, src: address });
  const loaded = new Promise((done) => frame.addEventListener("load", done));
  document.body.append(frame);
  await loaded;
  return frame.contentWindow;
};
const probe = async () => { %s };
probe().catch((error) => ({ error: String(error) })).then((answer) => {
  document.querySelector("pre").textContent = "ANSWER" + JSON.stringify(answer) + "END";
});
</script>"""


# What the reader's system says of itself.
DARK = "--blink-settings=preferredColorScheme=0"


def browser() -> str:
    """Return the path of one, or skip the test with the way to have it."""
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        pytest.skip(f"no browser is installed ({', '.join(_NAMES)}): apt-get install chromium")
    return path


def dom(address: str, home: Path, *flags: str) -> str:
    """The document at this address as it stands when its script is done."""
    words = [
        browser(),
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--hide-scrollbars",
    ]
    words += [f"--user-data-dir={home}", "--virtual-time-budget=20000", "--window-size=1400,900"]
    done = subprocess.run(
        [*words, *flags, "--dump-dom", address], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def ask(folder: Path, home: Path, script: str, *flags: str) -> Any:
    """The answer of a probe that is served beside the pages of `folder`."""
    probe = folder / "probe.html"
    probe.write_text(_PROBE % script, encoding="utf-8")
    try:
        with static_server(folder) as address:
            shown = dom(f"{address}/probe.html", home, *flags)
    finally:
        probe.unlink()
    answer = shown.rpartition("<pre>ANSWER")[2].partition("END</pre>")[0]
    return json.loads(answer.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
