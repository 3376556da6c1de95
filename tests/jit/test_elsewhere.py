"""Builds that another process makes: what an order says, and what comes of its delivery."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from fictl import settings
from fictl.jit import BuildFailed, JitSpec, Template, elsewhere
from fictl.jit.build import ensure, plan_build
from fictl.jit.elsewhere import Made
from fictl.jit.order import Order, files_of, key_of, order_of
from fictl.jit.ordered import BadOrder, build
from fictl.runnable.package_folder import publish

MAIN = """
#include <tvm/ffi/c_api.h>
#include "value.h"
extern "C" __attribute__((visibility("default"))) int __tvm_ffi_run(
    void*, const TVMFFIAny*, int32_t, TVMFFIAny* r) {
  r->type_index = kTVMFFIInt;
  r->v_int64 = VALUE;
  return 0;
}
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a process whose builds are made elsewhere."""
    monkeypatch.setenv(settings.WORKSPACE_BASE.name, str(tmp_path / "own"))
    monkeypatch.setattr(elsewhere, "_makers", [])
    (tmp_path / "own").mkdir()
    return tmp_path / "own"


def spec(own: Path, folder: str = "a", name: str = "op", value: int = 7) -> JitSpec:
    base = own / "packages" / folder
    base.mkdir(parents=True, exist_ok=True)
    (base / "main.cpp").write_text(MAIN)
    (base / "value.h").write_text(f"#define VALUE {value}\n")
    (base / "main.py").write_text(f"# {folder}")
    return JitSpec(name, (base / "main.cpp",), base=base, fallback_archs="8.0")


def ordered(one: JitSpec) -> Order:
    order = order_of(plan_build(one))
    assert order is not None
    return order


def test_equal_sources_are_equal_orders_wherever_they_lie_and_whatever_they_are_called(
    own: Path,
) -> None:
    orders = [ordered(spec(own)), ordered(spec(own, "b", "other"))]
    assert orders[0] == orders[1]
    assert key_of(orders[0]) == key_of(json.loads(json.dumps(orders[1])))
    assert sorted(files_of(orders[0])) == ["main.cpp", "value.h"]
    assert str(own) not in json.dumps(orders[0])


def test_every_part_of_an_order_is_in_its_key(own: Path) -> None:
    order = ordered(spec(own))
    assert key_of(order) != key_of(ordered(spec(own, value=8)))
    for name in order:
        assert key_of({**order, name: "other"}) != key_of(order)
        assert key_of({key: order[key] for key in order if key != name}) != key_of(order)


def test_a_file_that_no_include_names_is_a_part(own: Path) -> None:
    one = spec(own)
    before = key_of(ordered(one))
    (one.base / "unseen.inc").write_text("#define VALUE 9\n")
    assert key_of(ordered(one)) != before


@pytest.mark.parametrize("parameters", [{"sizes": (1, 2)}, {"kind": {1, 2}}, {"path": Path("x")}])
def test_what_json_cannot_hold_is_built_by_its_own_process(own: Path, parameters: dict) -> None:
    one = spec(own)
    (one.base / "config.jinja").write_text("")
    template = Template(one.base / "config.jinja", "config.inc", parameters)
    assert order_of(plan_build(replace(one, template=template))) is None
    fine = Template(one.base / "config.jinja", "config.inc", {"sizes": [1, 2]})
    assert order_of(plan_build(replace(one, template=fine))) is not None


def test_a_flag_that_names_the_own_folder_makes_no_order(own: Path) -> None:
    one = spec(own)
    assert order_of(plan_build(replace(one, extra_cflags=(f"-I{one.base}",)))) is None


def test_a_delivery_is_used_under_the_own_name_and_found_again(own: Path, tmp_path: Path) -> None:
    asked: list[Order] = []

    def made(order: Order) -> Made:
        asked.append(order)
        folder = tmp_path / "elsewhere"
        publish(folder, files_of(order))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(elsewhere, "_makers", [])
            patch.setenv(settings.WORKSPACE_BASE.name, str(tmp_path / "builder"))
            entry = build(order, folder)
        return Made(os.open(entry.module, os.O_RDONLY), 2.5)

    elsewhere.order_from(made)
    one = spec(own, name="mine")
    found = ensure(one)
    assert found.compiled
    assert found.entry.manifest.module == "mine"
    assert found.entry.manifest.seconds == 2.5
    assert one.build_and_load().run() == 7
    assert not ensure(one).compiled
    assert len(asked) == 1


def test_a_failure_elsewhere_is_one_here(own: Path) -> None:
    elsewhere.order_from(lambda order: Made(first="a.cu:1: error: no", hint="look", log="the log"))
    with pytest.raises(BuildFailed, match=r"op does not build: a\.cu:1: error: no") as failed:
        ensure(spec(own))
    assert (failed.value.folder / "build.log").read_text() == "the log"


@pytest.mark.parametrize("name", ["inputs", "flags", "targets", "identity"])
def test_an_order_that_says_something_else_than_its_files_is_refused(
    own: Path, tmp_path: Path, name: str
) -> None:
    order = {**ordered(spec(own)), name: {"other": "x"} if name != "targets" else []}
    publish(tmp_path / "files", files_of(order))
    with pytest.raises(BadOrder, match=f"have other .*{name}"):
        build(order, tmp_path / "files")
