"""Scaffolding, from an idea to files: what a user says, a template tree, a plan, and one atomic write."""
