"""How a solution gives its results: written to outputs that it is given, or returned."""

WRITES, RETURNS = "writes", "returns"
