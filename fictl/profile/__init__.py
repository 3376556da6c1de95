"""Profiling of code that runs on a GPU: the names that users import."""

from typing import TYPE_CHECKING

from fictl.lazy import lazy

if TYPE_CHECKING:
    from fictl.profile.cupti.context import profile_kernel
    from fictl.profile.cupti.profile import Profile

__all__ = ["Profile", "profile_kernel"]

__getattr__ = lazy(__name__, {"Profile": "cupti.profile", "profile_kernel": "cupti.context"})
