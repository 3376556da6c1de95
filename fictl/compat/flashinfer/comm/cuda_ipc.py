"""flashinfer.comm.cuda_ipc, as far as fictl has it."""

from fictl.compat.flashinfer._served import served

__path__: list[str] = []  # For `from … import`: _served says why.
__getattr__, __dir__ = served(__name__, "fictl.compat.flashinfer._cudart")
