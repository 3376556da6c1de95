"""Ops that are there: renamed, removed, exported, with everything that belongs to them."""
