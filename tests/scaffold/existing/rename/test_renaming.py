from __future__ import annotations

from dataclasses import replace

import pytest

from fictl.scaffold.existing.rename.renaming import Renaming


def renaming(folder, old: str, new: str) -> Renaming:
    return Renaming(replace(folder, module=old), replace(folder, module=new))


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        ("scale", "stretch_out"),
        ("launch_scale_rows", "launch_stretch_out_rows"),
        ("ScaleKernel", "StretchOutKernel"),
        ("kScaleVecs", "kStretchOutVecs"),
        ("LaunchScale", "LaunchStretchOut"),
        ("SCALE_ROWS", "STRETCH_OUT_ROWS"),
        ("test_scale_of_Scale", "test_stretch_out_of_StretchOut"),
        ("rescale", "rescale"),
        ("scaled", "scaled"),
        ("Scaled", "Scaled"),
        ("upscale_by", "upscale_by"),
        ("DOWNSCALE", "DOWNSCALE"),
    ],
)
def test_the_name_changes_wherever_it_is_a_word_of_its_own(twice, identifier, expected) -> None:
    assert renaming(twice, "scale", "stretch_out").respell(identifier) == expected


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        ("RMSNormShape", "RootNormShape"),
        ("kRmsNormVecs", "kRootNormVecs"),
        ("rms_norm_scale", "root_norm_scale"),
        ("RMS_NORM", "ROOT_NORM"),
        ("RMSNormed", "RMSNormed"),
    ],
)
def test_words_of_any_case_are_the_name(twice, identifier: str, expected: str) -> None:
    assert renaming(twice, "rms_norm", "root_norm").respell(identifier) == expected


def test_a_new_name_that_holds_the_old_one_is_not_renamed_again(twice) -> None:
    made = renaming(twice, "scale", "scale_by")
    assert made.respell("scale_ScaleRows_SCALE") == "scale_by_ScaleByRows_SCALE_BY"


def test_its_public_functions_are_those_of_its_name(twice) -> None:
    twice.op.write_text(
        twice.op.read_text() + "\n\n"
        '@op(archs=">=8.0", dtypes="i32", devices="cuda emu", mutates="")\n'
        "def twice_more(input: int, count: int) -> int: ...\n\n\n"
        '@op(archs=">=8.0", dtypes="i32", devices="cuda emu", mutates="")\n'
        "def Twice(input: int) -> int: ...\n"
    )
    made = renaming(twice, "twice", "thrice")
    assert made.public == ("twice", "Twice")
    assert made.kept == {"input", "count", "twice_more"}
