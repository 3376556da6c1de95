"""What an op says is a line of the library's log."""

from __future__ import annotations

import pytest

from fictl.op import notice


def test_a_notice_is_one_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    notice("attend: 3 tiles")
    assert [(each.name, each.levelname) for each in caplog.records] == [("fictl", "INFO")]
    assert caplog.messages == ["attend: 3 tiles"]
