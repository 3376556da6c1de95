"""Messages about missing names: whether FlashInfer has them, where, and what to use instead."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from fictl.compat.flashinfer._names import VERSION, below, recorded, spelled, theirs
from fictl.compat.flashinfer._public import plans

# The first pattern that matches the name or its module.
_INSTEAD = (
    (
        r"cake_\w+|Cake\w+|prims_ts\w*|b12x\w*|B12x\w+|\w*sm1[0-2]\d\w*|nvfp4_attention\w*",
        "it is for Blackwell GPUs only, for which fictl has no kernels",
    ),
    (
        r"(gen|load|get)_\w+_module",
        "fictl compiles an op at its first call, `fictl build OP` before it",
    ),
    (r"get_\w+_uri", "`fictl cache path OP` says where a module lies"),
    (r"FLASHINFER_\w+", "`fictl config show` lists the folders and settings"),
    (r"cudart", "CudaRTLibrary() of flashinfer.comm has functions of the CUDA runtime"),
    (
        r"default_(check|tolerances)|standard_check",
        "fictl.testing.assert_close compares, and a template has tolerances and judge",
    ),
    (
        r"register_(custom|fake)_op|flashinfer_experimental_api",
        "fictl.op.op makes a function an op of torch",
    ),
    (r"replay_\w+", "`fictl replay DIR` runs dumped calls again"),
    (r"\w+_graph_dumps", "dumps of captured calls are written by themselves"),
    (r"clear_cache_dir", "`fictl cache clear`"),
    (r"collect_env\w*|format_report", "`fictl doctor --report`"),
    (
        r"artifacts|download_artifacts|clear_cubin",
        "there are no cubins here: `fictl artifacts pull` brings whole modules, signed",
    ),
    (r"main|gen_all_modules|register_default_modules|copy_built_kernels", "`fictl aot build`"),
    (
        r"trace_apply|enable_apply|disable_apply",
        "`fictl dataset` and fictl.compile choose solutions",
    ),
    (
        r"AutoTuner\w*|TuningConfig|TunableRunner|autotune_v2\w*|autotune_cache",
        "ops declare their tactics with @op, and `fictl.autotune()` times them",
    ),
)
_OTHERWISE = "`fictl list` shows all ops"


def missing(module: str, name: str, here: Iterable[str]) -> str:
    """One sentence; `here` are the names that `module` has."""
    place = theirs(module)
    names = recorded()
    begun = f"module {module!r} has no {name!r}"
    if name in names.get(place, ()) or below(place, name) in names:
        why = "" if name in plans() else _instead_of_module(below(place, name))
        why = why or instead(name)
        return f"{begun}: FlashInfer {VERSION} has it, fictl does not; {why}"
    elsewhere = [spelled(other) for other in names if name in names[other]]
    if elsewhere:
        return f"{begun}, nor has FlashInfer {VERSION}: there it is in {' and '.join(elsewhere)}"
    close = get_close_matches(name, here, n=1)
    return f"{begun}; did you mean {close[0]!r}?" if close else begun


def _instead_of_module(module: str) -> str:
    """Return what becomes of a module's public names; "" where it has none."""
    of_names = (plans().get(name) for name in recorded().get(module, ()))
    reasons = {str(plan) for plan in of_names if plan is not None and plan.reason}
    if len(reasons) > 1:
        return "`fictl compat list` says what becomes of each of its names"
    return next(iter(reasons), "")


def instead(name: str) -> str:
    """Return why a name is not served, when it will be, or what to use."""
    plan = plans().get(name)
    if plan is not None and plan.reason:
        return str(plan)
    return next((text for form, text in _INSTEAD if re.fullmatch(form, name)), _OTHERWISE)
