"""Tactics: the ways to launch one kernel that differ in speed only, and which one a call gets."""
