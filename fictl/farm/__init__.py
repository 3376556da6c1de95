"""Places where work is done, on this machine and on others: their processes, queue and losses."""
