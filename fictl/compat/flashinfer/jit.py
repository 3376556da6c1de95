"""flashinfer.jit, as far as fictl has it."""

from fictl.compat.flashinfer._served import parts

__getattr__, __dir__ = parts(__name__, "fictl.jit", "fictl.kernels.attention._define_variant")
