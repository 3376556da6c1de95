"""Pictures of results: a canvas with axes, written as SVG or PNG."""
