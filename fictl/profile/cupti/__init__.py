"""CUPTI's records of an op, or of any code: every launch, its configuration, its time."""
