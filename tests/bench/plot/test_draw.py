from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from fictl.bench.plot.draw import draw
from fictl.bench.result import BenchReport
from fictl.bench.row import WRONG, Row
from fictl.errors import SetupError, UsageError
from fictl.project import OpFolder

Make = Callable[..., BenchReport]


def words(path: Path) -> list[str]:
    found = ET.parse(path).iter("{http://www.w3.org/2000/svg}text")
    return [(each.text or "") + "".join(inner.tail or "" for inner in each) for each in found]


def swept(make_row: Callable[..., Row], *sides: str) -> list[Row]:
    return [
        make_row(side=side, case=f"right-{n}-float32", sizes={"n": n}, flops=None)
        for side in sides
        for n in (1, 64, 4096)
    ]


def test_bars_name_every_case_and_side(
    make_report: Make, make_row: Callable[..., Row], tmp_path: Path
) -> None:
    rows = [make_row(), make_row(side="torch <2>", is_baseline=True)]
    said = words(draw(make_report(*rows, ceilings=None), tmp_path / "new" / "r.svg"))
    assert "right-64-float32" in said
    assert any(text.startswith("torch <2> 10") for text in said)


def test_a_swept_axis_is_drawn_along(
    make_report: Make, make_row: Callable[..., Row], tmp_path: Path
) -> None:
    path = draw(make_report(*swept(make_row, "fictl", "torch")), tmp_path / "r.svg")
    said = words(path)
    assert {"n", "GB/s", "fictl", "torch", "right · NVIDIA H200  float32"} <= {*said}
    dots = ET.parse(path).iter("{http://www.w3.org/2000/svg}circle")
    assert len(list(dots)) == 6


def test_a_roofline_needs_operations_and_ceilings(
    make_report: Make, make_row: Callable[..., Row], tmp_path: Path
) -> None:
    with_both = words(draw(make_report(), tmp_path / "a.svg"))
    without = words(draw(make_report(make_row(flops=None)), tmp_path / "b.svg"))
    assert "right · NVIDIA H200  roofline" in with_both
    assert "right · NVIDIA H200  roofline" not in without


def test_bars_have_one_scale_intervals_and_the_sides_that_were_refused(
    make_report: Make, make_row: Callable[..., Row], tmp_path: Path
) -> None:
    rows = [
        make_row(samples=(5e-6,) * 8),
        make_row(case="right-128-float32", samples=(1e-5,) * 8),
        make_row(side="torch", is_baseline=True).refused(WRONG, "y: 3 of 4 elements differ"),
    ]
    path = draw(make_report(*rows, ceilings=None), tmp_path / "r.svg")
    assert "torch ✗ wrong: y: 3 of 4 elements differ" in words(path)
    marks = [*ET.parse(path).getroot()]
    widths = [float(each.attrib["width"]) for each in marks if each.tag.endswith("rect")][1:]
    assert widths[1] == pytest.approx(2 * widths[0], abs=0.2)
    assert sum(each.tag.endswith("polyline") for each in marks) == 2  # An interval each.
    tips = [title.text for title in ET.parse(path).iter("{http://www.w3.org/2000/svg}title")]
    assert any("95 %: 5 to 5 us" in str(tip) for tip in tips)


def test_a_sweep_names_the_sides_that_were_refused(
    make_report: Make, make_row: Callable[..., Row], tmp_path: Path
) -> None:
    rows = swept(make_row, "fictl", "torch")
    rows[-1] = rows[-1].refused(WRONG, "differs")
    assert "torch ✗ 1 of 3" in words(draw(make_report(*rows, ceilings=None), tmp_path / "r.svg"))


def test_a_page_has_every_row_the_pictures_and_the_warnings(
    make_report: Make, make_row: Callable[..., Row], tmp_path: Path
) -> None:
    refused = make_row(side="torch <2>", is_baseline=True).refused(WRONG, "<b> differs")
    report = make_report(make_row(), refused, warnings=("a < b",))
    text = draw(report, tmp_path / "r.html").read_text(encoding="utf-8")
    assert 'class="picture"' in text  # The roofline.
    assert "<p>a &lt; b</p>" in text
    assert text.count("<tr data-") == 2
    assert "✗ wrong" in text
    assert "&lt;b&gt; differs" in text
    assert "<b>" not in text


def test_a_page_beside_its_project_links_to_the_ops(
    make_report: Make, hostile: OpFolder, tmp_path: Path
) -> None:
    beside = hostile.project.root / "report.html"
    text = draw(make_report(), beside, [hostile]).read_text(encoding="utf-8")
    assert '<a href="kernels/doubling/doubling/">hostile/doubling/doubling</a>' in text
    text = draw(make_report(), tmp_path / "far" / "r.html", [hostile]).read_text(encoding="utf-8")
    assert "<a " not in text


def test_png_without_matplotlib_names_the_way_out(
    make_report: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SetupError, match="needs matplotlib") as caught:
        draw(make_report(), tmp_path / "r.png")
    assert caught.value.hint == "--plot out.svg needs nothing"


def test_png_is_drawn_where_matplotlib_is(make_report: Make, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert draw(make_report(), tmp_path / "r.png").read_bytes().startswith(b"\x89PNG")


def test_another_kind_of_file_is_refused(make_report: Make, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"r\.pdf is not a picture"):
        draw(make_report(), tmp_path / "r.pdf")


def test_nothing_that_was_timed_is_nothing_to_draw(
    make_report: Make, make_row: Callable[..., Row], tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="there is nothing to draw"):
        draw(make_report(make_row(status=WRONG, samples=())), tmp_path / "r.svg")


def test_a_sweep_shows_the_rate_of_what_bounds_it(
    make_report: Make, make_row: Callable[..., Row], tmp_path: Path
) -> None:
    rows = [
        make_row(case=str(n), sizes={"n": n}, flops=n * 10**6, ceiling="matmul") for n in (1, 8, 64)
    ]
    said = words(draw(make_report(*rows, ceilings=None), tmp_path / "r.svg"))
    assert "TFLOP/s" in said
    assert "GB/s" not in said
