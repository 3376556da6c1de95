"""flashinfer.comm, as far as fictl has it."""

from fictl.compat.flashinfer._served import served

__getattr__, __dir__ = served(
    __name__,
    "fictl.compat.flashinfer._comm",
    "fictl.compat.flashinfer._cudart",
    "fictl.compat.flashinfer._mapping",
)
