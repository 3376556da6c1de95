"""Pictures of results: bars, sweeps over an axis and a roofline, as SVG, HTML or PNG."""
