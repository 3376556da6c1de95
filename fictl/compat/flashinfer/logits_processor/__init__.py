"""flashinfer.logits_processor, as far as fictl has it."""

from fictl.compat.flashinfer._served import served

__getattr__, __dir__ = served(__name__)
