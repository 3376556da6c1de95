"""The program that measures a communication op: one process for each rank."""
