"""Backends of an op: declared, checked, chosen for a call or a plan, and remembered."""
