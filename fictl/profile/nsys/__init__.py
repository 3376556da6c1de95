"""`fictl profile --tool nsys`: Nsight Systems' timeline of one case, summed up."""
