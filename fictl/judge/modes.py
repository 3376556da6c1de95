"""Words of turns: how a solution gives its results, and what its process does around its calls."""

# Written to outputs that it is given, or returned.
WRITES, RETURNS = "writes", "returns"
# Whether work is left on other streams is looked at; calls are timed as exactly as can be; nothing
# is done that takes time.
WARM, TIMED, CLOCKED = "warm", "timed", "clocked"
