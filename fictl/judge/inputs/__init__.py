"""Inputs of workloads: drawn, loaded, or made by the definition's own code; the same for one seed."""

from fictl.judge.inputs.make import given_inputs, make_inputs, random_inputs

__all__ = ["given_inputs", "make_inputs", "random_inputs"]
