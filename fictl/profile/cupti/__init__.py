"""CUPTI's records of an op, or of any code: every launch, how it was configured, when it ran."""
