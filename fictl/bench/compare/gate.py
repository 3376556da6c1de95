"""Words of --fail-on: the reasons for which a comparison fails."""

from __future__ import annotations

from fictl.errors import UsageError

SLOWER, UNCLEAR, MISSING, NEW = "slower", "unclear", "missing", "new"
NEVER = "never"
WORDS = (SLOWER, UNCLEAR, MISSING, NEW)
DEFAULT_GATE = (SLOWER,)


def parse_gate(text: str) -> tuple[str, ...]:
    """Parse `slower,unclear`; `never` fails on none of them."""
    words = [word.strip().lower() for word in text.split(",")]
    if words == [NEVER]:
        return ()
    for word in words:
        if word not in WORDS:
            raise UsageError(
                f"--fail-on {word or text!r}: there is nothing named so",
                f"some of {','.join(WORDS)}, or {NEVER}",
            )
    return tuple(word for word in WORDS if word in words)
