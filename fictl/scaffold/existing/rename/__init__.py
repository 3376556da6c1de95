"""Giving an op another name: in its files, in its names, in those of others that use it."""

from fictl.scaffold.existing.rename.rename import Renamed, plan_rename

__all__ = ["Renamed", "plan_rename"]
