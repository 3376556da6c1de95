"""Shared memory for the inputs and outputs of a turn, lent by the referee to a solution's
process.
"""
