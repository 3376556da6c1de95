"""flashinfer.utils, as far as fictl has it."""

from fictl.compat.flashinfer._served import served

__path__: list[str] = []  # For `from … import`: _served says why.
__getattr__, __dir__ = served(
    __name__,
    "fictl.compat.flashinfer._device",
    "fictl.compat.flashinfer._attention_backend",
    "fictl.compat.flashinfer._numbers",
    "fictl.compat.flashinfer._errors",
    "fictl.compat.flashinfer._tensors",
    "fictl.compat.flashinfer._fp4_tensor",
    "fictl.testing",
    "fictl.op",
)
