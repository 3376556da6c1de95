"""Where a turn's inputs and outputs lie: memory of the referee's that a solution's process is lent."""
