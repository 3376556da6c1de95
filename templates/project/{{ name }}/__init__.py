"""CUDA kernels, each built when it is first called: `{{ name }}.ops` has them by name."""

from fictl.project import mounted

__path__, ops = mounted(__name__, __path__)
