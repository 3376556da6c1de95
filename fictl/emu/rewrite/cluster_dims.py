"""Rewrites `__cluster_dims__(x, y, z)`: the first statement of the kernel tells the launch."""

from __future__ import annotations

from fictl.emu.rewrite.markers import padding
from fictl.emu.rewrite.scan import Edit, Malformed, body, closing

CLUSTER_DIMS = "__fictl_emu_cluster_dims__"


def cluster_dims(text: str, at: int) -> list[Edit]:
    """Rewrite the attribute at `at`; a declaration without a body loses it."""
    opened = text.find("(", at)
    if opened < 0:
        raise Malformed(at, "__cluster_dims__ takes the shape of a cluster")
    end = closing(text, opened) + 1
    edits = [Edit(at, end, padding(text[at:end]))]
    brace = body(text, end)
    if brace is not None:
        call = f" ::fictl_emu_cluster_dims{text[opened:end]};"
        edits.append(Edit(brace + 1, brace + 1, " ".join(call.splitlines())))
    return edits
