"""Runner of `fictl test`: pytest processes, outcomes, reports."""
