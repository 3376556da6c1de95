"""Constants of turns: how a solution returns outputs, and how its calls are timed."""

# Outputs are written to given tensors, or returned.
WRITES, RETURNS = "writes", "returns"
# Modes: check for work left on other streams; time calls as exactly as possible; do nothing that
# takes time.
WARM, TIMED, CLOCKED = "warm", "timed", "clocked"


def is_watched(mode: str, device: str) -> bool:
    """Tell whether waits for a CPU count: in turns whose time is taken by the host's clock."""
    return mode == (CLOCKED if device.startswith("cuda") else TIMED)
