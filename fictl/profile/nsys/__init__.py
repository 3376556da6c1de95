"""`fictl profile --tool nsys`: Nsight Systems' timeline of one case, and its summary."""
