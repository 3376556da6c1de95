from __future__ import annotations

from xml.etree import ElementTree as ET

from fictl.plot.canvas import Box, Canvas, Dot, Line, Words
from fictl.plot.svg import svg


def test_every_mark_is_an_element_and_text_is_escaped() -> None:
    canvas = Canvas(90, 40)
    canvas.add(Line(((0, 1), (2, 3))), Box(0, 0, 5, 5, "red"), Dot(1, 1, "red"), Words(0, 0, "a<b"))
    root = ET.fromstring(svg(canvas))
    assert root.attrib["viewBox"] == "0 0 90 40"
    assert [element.tag.rpartition("}")[2] for element in root] == [
        "style",
        "rect",
        "polyline",
        "rect",
        "circle",
        "text",
    ]
    assert root[-1].text == "a<b"
