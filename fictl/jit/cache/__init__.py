"""Cache maintenance: list, check and remove its contents, and explain why a build misses."""
