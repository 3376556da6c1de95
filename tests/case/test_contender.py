from __future__ import annotations

from dataclasses import replace

from fictl.case.contender import OURS, own
from fictl.case.subject import of_function
from fictl.project import OpFolder


def test_a_backend_is_a_contender_of_its_own_name(hostile: OpFolder) -> None:
    given = []
    subject = of_function(hostile, "right", "")
    subject = replace(subject, bind=lambda inputs: given.append(inputs) or (print, print))
    own(subject).prepare({"input": 1}, {"out": 2})
    own(subject, "sm80").prepare({"input": 1}, {"out": 2})
    assert given == [{"input": 1, "out": 2}, {"input": 1, "out": 2, "backend": "sm80"}]
    assert (own(subject).name, own(subject, "sm80").name) == (OURS, "sm80")
