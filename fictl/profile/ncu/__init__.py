"""`fictl profile --tool ncu`: Nsight Compute's counters of one case, explained in words."""
