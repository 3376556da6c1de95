"""The built site: whole, without dead links, legible in both schemes, and never wider than the screen."""

from __future__ import annotations

import fcntl
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from .browser import DARK, ask
from .site_page import SitePage

ROOT = Path(__file__).resolve().parents[1]
HTML = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "link",
        "script",
        "style",
        "body",
        "header",
        "main",
        "footer",
    ),
    *("nav", "div", "span", "p", "a", "img", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li"),
    *("dl", "dt", "dd", "table", "thead", "tbody", "tr", "th", "td", "pre", "code", "strong", "em"),
    *("br", "hr", "input", "label", "form", "button", "aside", "article", "section", "details"),
    *("summary", "blockquote", "kbd", "sup", "sub", "small", "dialog", "svg", "path", "g", "rect"),
    *("line", "circle", "polyline", "polygon"),
}
GROUPS = (
    *("Start", "Write ops", "Test", "Measure"),
    *("Build and ship", "Kernels", "Solutions", "Reference"),
)
# The widest code and tables, and the pages that most people open.
LOOKED_AT = ("", "cli/", "compares/", "python/ops/", "testing/", "hopper/wgmma/")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build it once for all processes of this run, beside the checkout's own."""
    if _zensical() is None:
        pytest.skip("needs Zensical: pip install zensical mkdocstrings-python")
    folder = tmp_path_factory.getbasetemp()
    shared = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "site"
    shared.mkdir(exist_ok=True)
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "said.txt").exists():
            (shared / "said.txt").write_text(_build(shared), encoding="utf-8")
    assert "No issues found" in (shared / "said.txt").read_text(encoding="utf-8")
    return shared / "site"


def _zensical() -> str | None:
    return shutil.which("zensical", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")


def _build(folder: Path) -> str:
    """Build a copy: the site of the checkout, and what Zensical remembers of it, stay as they are."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    text = text.replace("paths: [.]", f"paths: [{ROOT}]")
    (folder / "mkdocs.yml").write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    argv = [str(_zensical()), "build", "--strict"]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True)
    return done.stdout + done.stderr


@cache
def _pages(site: Path) -> dict[Path, SitePage]:
    return {path: SitePage(path) for path in site.rglob("*.html") if "assets" not in path.parts}


def _of(site: Path, path: Path) -> str:
    return path.relative_to(site).as_posix()


def test_every_page_is_html_that_has_one_title_and_says_what_its_columns_are(site: Path) -> None:
    problems = [
        (_of(site, path), problem)
        for path, page in _pages(site).items()
        for problem in (
            *(f"a tag <{tag}>: escape it" for tag in page.tags - HTML),
            *(["a fence that is shown as text"] if "```" in page.text else []),
            *(["no title, or two"] if len(page.headings) != 1 else []),
            *(
                ["a column without a name"]
                if any(not head.strip("\u00b6 \n") for head in page.heads)
                else []
            ),
            *(["a picture without words"] if any(alt == "" for alt in page.alts) else []),
        )
    ]
    assert problems == []


def test_no_link_is_dead(site: Path) -> None:
    dead = []
    for path, page in _pages(site).items():
        if path.name == "404.html":
            continue  # Served from anywhere: its links begin at the root.
        for link in page.links:
            url = urlsplit(link)
            if url.scheme or url.netloc or link.startswith("data:"):
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            target = target / "index.html" if target.is_dir() else target
            there = _pages(site).get(target)
            if not target.exists() or (
                url.fragment and there and unquote(url.fragment) not in there.ids
            ):
                dead.append((_of(site, path), link))
    assert dead == []


def test_the_site_is_in_eight_groups_and_the_home_page_has_its_pictures(site: Path) -> None:
    text = (site / "index.html").read_text(encoding="utf-8")
    tabs = re.findall(r'<a [^>]*class="md-tabs__link"[^>]*>\s*(.*?)\s*</a>', text, re.DOTALL)
    assert tuple(re.sub(r"<[^>]*>", "", tab).strip() for tab in tabs) == GROUPS
    assert re.findall(r'<img[^>]*src="assets/(\w+)\.svg"', text) == [
        "test",
        "sanitize",
        "build",
        "measured",
    ]
    assert text.count("data-md-color-scheme") >= 3  # By the system, light, dark.


def test_code_is_coloured_on_every_page_that_has_much_of_it(site: Path) -> None:
    bare = [
        _of(site, path)
        for path, page in _pages(site).items()
        if "pre" in page.tags and not page.coloured
    ]
    assert bare == []


def test_the_reference_has_types(site: Path) -> None:
    text = (site / "python/ops/index.html").read_text(encoding="utf-8")
    entry = text.partition('id="fictl.ops.rmsnorm"')[2].partition('id="fictl.ops.')[0]
    words = re.sub(r"<[^>]*>", "", entry)
    assert "weight: Tensor" in " ".join(words.split())
    for name in ("fictl.op.op", "fictl.jit.JitSpec", "fictl.trace.TraceTemplate"):
        assert f'id="{name}"' in (site / "python/authors/index.html").read_text(encoding="utf-8")


def test_no_word_outside_of_a_box_is_wider_than_a_phone(site: Path) -> None:
    long = {
        _of(site, path): page.long_words for path, page in _pages(site).items() if page.long_words
    }
    assert long == {}


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_reports_are_legible_in_both_schemes() -> None:
    """What WCAG asks for: 4.5 of words, 3 of bars."""
    text = (ROOT / "fictl/plot/page/page.css").read_text(encoding="utf-8")
    schemes = [
        dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block))
        for block in re.findall(r"\{[^{}]*--paper:[^{}]*\}", text)
    ]
    assert len(schemes) == 3  # Light; dark by the system; dark by the button.
    assert schemes[1] == schemes[2]
    for colours in schemes:
        assert len(colours) == 13
        for name, colour in colours.items():
            least = 3.0 if re.fullmatch(r"c\d", name) else 4.5
            if name not in ("paper", "line"):
                assert _contrast(colour, colours["paper"]) >= least, name


LEGIBLE = """
const linear = (part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const solid = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data]; };
const over = (top, below) => top.slice(0, 3).map((part, at) => part * top[3] / 255 + below[at] * (1 - top[3] / 255));
const light = (rgb) => { const [r, g, b] = rgb.map((part) => linear(part / 255)); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const contrast = (one, other) => { const [low, high] = [light(one), light(other)].sort((a, b) => a - b); return (high + 0.05) / (low + 0.05); };
const behind = (view, element) => {
  const layers = [];
  for (let at = element; at; at = at.parentElement) layers.push(solid(view.getComputedStyle(at).backgroundColor));
  return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
};
"""


LOOK = """
const problems = [];
for (const address of PAGES) for (const width of [500, 1400]) {
  const view = await open("/" + address, width), root = view.document.documentElement;
  if (root.scrollWidth > root.clientWidth) problems.push([address, width, "is", root.scrollWidth, "wide"]);
  if (!view.document.querySelector("article h1")) problems.push([address, width, "has no title"]);
  const words = [...view.document.querySelectorAll("article :is(p, td, th, h2, a:not(.headerlink), pre span)")];
  for (const word of words.filter((one) => one.textContent.trim()).slice(0, width == 500 ? 0 : 400)) {
    const below = behind(view, word), ink = over(solid(view.getComputedStyle(word).color), below);
    if (contrast(ink, below) < 4.5) problems.push([address, word.tagName, word.className,
      contrast(ink, below).toFixed(2), word.textContent.slice(0, 30)]);
  }
  if (light(behind(view, view.document.body)) > 0.5 != matchMedia("(prefers-color-scheme: light)").matches)
    problems.push([address, "is in the other scheme"]);
  document.querySelector("iframe").remove();
}
return problems;
"""


@pytest.mark.parametrize("flags", [(), (DARK,)], ids=["light", "dark"])
def test_a_browser_finds_no_page_too_wide_and_all_words_legible(
    site: Path, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    script = LEGIBLE + LOOK.replace("PAGES", json.dumps(LOOKED_AT))
    assert ask(site, tmp_path / "home", script, *flags) == []


def test_a_picture_that_differs_in_times_alone_is_not_drawn_again() -> None:
    """Else `make docs` would leave every checkout changed."""
    same = runpy.run_path(str(ROOT / "docs/pictures.py"))["same_but_for_times"]
    drawn = (ROOT / "docs/assets/build.svg").read_text(encoding="utf-8")
    shown = re.search(r"in&#160;([\d.]+)&#160;s", drawn)
    assert shown
    assert same(drawn, drawn.replace(f"in&#160;{shown[1]}&#160;s", "in&#160;12.34&#160;s"))
    assert not same(drawn, drawn.replace("compiled", "linked"))
