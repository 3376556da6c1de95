"""`fictl profile --tool ncu`: Nsight Compute's counters of one case, and what they mean in words."""
