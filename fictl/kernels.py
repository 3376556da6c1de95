"""Folders of the shipped ops as modules: `import fictl.kernels.<family>.<module>.op`."""

from fictl.paths import data_root

__path__ = [str(data_root("kernels"))]
