"""Pictures of benchmarks: bars, sweeps over an axis and a roofline."""
