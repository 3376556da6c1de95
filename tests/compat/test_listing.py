"""All public names are listed once: served, planned or refused, and why."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from importlib import import_module

from fictl.compat.flashinfer._listing import STATUSES, public_names
from fictl.compat.flashinfer._lists import paragraphs
from fictl.compat.flashinfer._names import PACKAGE, TOP, recorded
from fictl.compat.flashinfer._public import PLANNED, REFUSED, SERVED, plans

NAMES = public_names()


def test_all_public_names_are_there_once() -> None:
    assert len(NAMES) == len(plans()) == 872
    counted = Counter(name for _, names in paragraphs("public.txt") for name in names)
    assert [name for name, count in counted.items() if count > 1] == []
    assert {name.status for name in NAMES} == {*STATUSES}


def test_what_flashinfer_itself_exports_is_public() -> None:
    assert recorded()[TOP] - {*plans()} == set()


def test_each_name_that_is_not_served_says_why() -> None:
    assert [name for name in NAMES if bool(name.reason) is (name.status == SERVED)] == []
    assert [name.name for name in NAMES if name.reason != name.reason.strip(" .;:")] == []


def test_what_is_served_can_be_had_where_it_is_listed() -> None:
    for name in NAMES:
        had = []
        for module in name.modules:
            try:
                place = import_module(module.replace("flashinfer", PACKAGE, 1))
            except ModuleNotFoundError:
                continue
            had.append(hasattr(place, name.name))
        assert any(had) is (name.status == SERVED), name


def test_what_the_list_calls_served_is_served() -> None:
    """The head of its paragraph; one that is served since may be below another head."""
    listed = {name for name, plan in plans().items() if plan.status == SERVED}
    assert listed <= {name.name for name in NAMES if name.status == SERVED}
    assert {plan.status for plan in plans().values()} == {SERVED, PLANNED, REFUSED}


def test_each_name_has_its_modules_but_those_that_the_wheel_lacks() -> None:
    homeless = {name.name for name in NAMES if not name.modules}
    gone = {name.name for name in NAMES if name.reason.startswith("the wheel of FlashInfer")}
    assert homeless <= gone


def test_the_list_is_made_without_torch() -> None:
    code = (
        "import sys; from fictl.compat.flashinfer._listing import public_names, reached_names\n"
        "assert public_names() and reached_names()\n"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
