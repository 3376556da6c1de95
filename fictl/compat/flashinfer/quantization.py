"""flashinfer.quantization, as far as fictl has it."""

from fictl.compat.flashinfer._served import family

__getattr__, __dir__ = family(__name__)
