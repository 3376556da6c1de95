"""Hooks: calls of ops, by fictl's names and by FlashInfer's, go through apply and tracing."""

from typing import TYPE_CHECKING

from fictl.lazy import lazy

if TYPE_CHECKING:
    from fictl.integration.adapters import adapter
    from fictl.integration.hooks import explain, install, uninstall

__all__ = ["adapter", "explain", "install", "uninstall"]

__getattr__ = lazy(
    __name__,
    {"adapter": "adapters", "explain": "hooks", "install": "hooks", "uninstall": "hooks"},
)
