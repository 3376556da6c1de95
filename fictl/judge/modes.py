"""Constants of turns: how a solution returns outputs, and how its calls are timed."""

# Written to outputs that it is given, or returned.
WRITES, RETURNS = "writes", "returns"
# Whether work is left on other streams is looked at; calls are timed as exactly as can be; nothing
# is done that takes time.
WARM, TIMED, CLOCKED = "warm", "timed", "clocked"
