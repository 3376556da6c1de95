"""The intra-kernel profiler: times of the events that <fictl/device/profiler.cuh> records."""
