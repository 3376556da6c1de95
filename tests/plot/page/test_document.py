from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from fictl.plot.page.document import document, link_beside, paragraphs
from fictl.plot.page.table import Bar, PageCell, PageRow, filters, table

from ...browser import ask, dom

HOSTILE = "\"><img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


def page(*rows: PageRow) -> str:
    return document(
        HOSTILE, [*paragraphs([HOSTILE]), filters(rows), *table(("name", "time"), rows)]
    )


def row(name: str, time: float, side: str = "fictl") -> PageRow:
    bar = Bar(time, time * 0.9, time * 1.1)
    return PageRow(
        [PageCell(name), PageCell(f"{time:g} us", time, tip=f"tip of {name}", bar=bar)],
        {"side": side},
    )


@pytest.mark.parametrize("kind", ["style", "script"])
def test_the_policy_names_the_only_script_and_style_by_their_hashes(kind: str) -> None:
    text = page(row(HOSTILE, 1.0, HOSTILE))
    (inside,) = re.findall(rf"<{kind}>(.*?)</{kind}>", text, re.DOTALL)
    digest = b64encode(sha256(inside.encode()).digest()).decode()
    assert f"{kind}-src 'sha256-{digest}'" in text
    assert "default-src 'none'" in text


def test_a_page_names_nothing_outside_of_itself() -> None:
    text = page(row("a", 1.0))
    assert (
        re.findall(r"https?://(?!www\.w3\.org/2000/svg)|<\w[^>]*\bsrc=|@import|url\(", text) == []
    )


def test_columns_without_a_value_are_left_out() -> None:
    rows = [PageRow([PageCell("a"), PageCell(""), PageCell("b")])]
    assert re.findall(r"<th[^>]*>(\w+)", "".join(table(("x", "y", "z"), rows))) == ["x", "z"]


def test_bars_of_a_table_have_one_scale() -> None:
    text = "".join(table(("name", "time"), [row("a", 50.0), row("b", 25.0)]))
    assert [float(width) for width in re.findall(r'rect y="2" width="([\d.]+)"', text)] == [
        181.8,
        90.9,
    ]


@pytest.mark.parametrize(
    ("page_at", "link"),
    [
        ("p/report.html", "a/op%20b.py"),
        ("report.html", "p/a/op%20b.py"),
        ("p/r/x.html", "../a/op%20b.py"),
    ],
)
def test_a_link_holds_where_page_and_target_move_together(
    tmp_path: Path, page_at: str, link: str
) -> None:
    root = tmp_path / "p"
    assert link_beside(root / "a" / "op b.py", tmp_path / page_at, root) == link


def test_a_page_elsewhere_tells_nothing_of_the_machine(tmp_path: Path) -> None:
    root = tmp_path / "deep" / "p"
    assert link_beside(root / "a.py", tmp_path / "report.html", root) == ""


def test_no_name_becomes_a_scheme(tmp_path: Path) -> None:
    assert (
        link_beside(tmp_path / "javascript:alert(1)", tmp_path / "r.html", tmp_path)
        == "javascript%3Aalert%281%29"
    )


def test_a_browser_opens_it_from_a_file_and_runs_none_of_its_texts(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(page(row(HOSTILE, 1.0, HOSTILE), row("b", 2.0)), encoding="utf-8")
    shown = dom(path.as_uri(), tmp_path / "home")
    assert "2 of 2 rows" in shown  # The script has run,
    assert "<title>owned" not in shown  # and nothing else.
    assert "<img" not in shown


def test_a_browser_sorts_filters_and_shows_what_is_hovered(tmp_path: Path) -> None:
    text = page(row("b", 2.0, "torch"), row("a", 10.0), row("c", 3.0))
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    answer = ask(
        tmp_path,
        tmp_path / "home",
        """
        const view = await open("page.html", 500), page = view.document, form = page.querySelector("form");
        const rows = () => [...page.querySelectorAll("tbody tr")].filter((row) => !row.hidden)
          .map((row) => row.cells[0].textContent).join("");
        const width = () => Number(page.querySelector("tbody rect").getAttribute("width"));
        const first = rows();
        const [name, time] = page.querySelectorAll("th button");
        name.click(); const by_name = rows();
        time.click(); const by_time = rows();
        time.click(); const down = rows();
        const linear = width();
        const box = form.querySelector("[data-facet]"); box.checked = false;
        form.dispatchEvent(new view.Event("input")); const filtered = rows();
        form.elements.log.checked = true; form.elements.text.value = "C";
        form.dispatchEvent(new view.Event("input")); const searched = rows();
        page.querySelector("[data-tip]").dispatchEvent(new view.MouseEvent("mousemove", {bubbles: true}));
        const tip = page.querySelector(".tip");
        form.elements.theme.click(); const dark = view.getComputedStyle(page.body).backgroundColor;
        return {first, by_name, by_time, down, filtered, searched, grown: width() > linear * 0.99,
          tip: tip.hidden ? "" : tip.textContent, dark,
          overflow: page.documentElement.scrollWidth - page.documentElement.clientWidth};
        """,
    )
    assert answer == {
        "first": "bac",
        "by_name": "abc",
        "by_time": "bca",
        "down": "acb",
        "filtered": "ac",
        "searched": "c",
        "grown": True,
        "tip": "tip of a",
        "dark": "rgb(13, 17, 23)",
        "overflow": 0,
    }
