"""Backends of an op: declare, check, choose for a call or a plan, and cache the choice."""
