"""Ranks: processes that call collectives together, and what is said when one of them does not."""
