"""The functions of the CUDA driver that divide a GPU's multiprocessors: green contexts."""

from __future__ import annotations

import ctypes
from typing import Any

from fictl.errors import FictlError, SetupError

_LIBRARY = "libcuda.so.1"
_SM = 1  # CU_DEV_RESOURCE_TYPE_SM
_DEFAULT_STREAM = 1  # CU_GREEN_CTX_DEFAULT_STREAM, which is required
_NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING
# CUDA_ERROR_INVALID_VALUE, …_RESOURCE_TYPE, …_RESOURCE_CONFIGURATION: a part is too large or empty.
_DOES_NOT_FIT = (1, 914, 915)


class SmResource(ctypes.Structure):
    """CUdevSmResource: multiprocessors. Drivers before 13.0 leave the last two at 0."""

    _fields_ = [
        ("smCount", ctypes.c_uint),
        ("minSmPartitionSize", ctypes.c_uint),
        ("smCoscheduledAlignment", ctypes.c_uint),
    ]


class _OfType(ctypes.Union):
    _fields_ = [("sm", SmResource), ("_oversize", ctypes.c_ubyte * 48)]


class DevResource(ctypes.Structure):
    """CUdevResource: a part of a GPU, as `resource.sm.smCount` multiprocessors."""

    _anonymous_ = ("_of_type",)
    _fields_ = [
        ("type", ctypes.c_int),
        ("_internal_padding", ctypes.c_ubyte * 92),
        ("_of_type", _OfType),
    ]

    sm: SmResource


class DoesNotFit(FictlError):
    """A part that the GPU does not have."""

    code = "invalid-value"


class GreenDriver:
    """The driver's functions, each error in words.

    Contexts and streams are never destroyed: work may be queued in them for as long as the process
    lives.
    """

    def __init__(self) -> None:
        try:
            self._library = ctypes.CDLL(_LIBRARY)
        except OSError as error:
            raise SetupError(
                f"green contexts need the CUDA driver: {error}",
                "run this on a machine with an NVIDIA GPU and its driver",
            ) from error
        self._call("cuInit", 0)

    def device(self, index: int) -> int:
        device = ctypes.c_int()
        self._call("cuDeviceGet", ctypes.byref(device), index)
        return device.value

    def resource(self, device: int) -> DevResource:
        """All multiprocessors of a device."""
        resource = DevResource()
        self._call("cuDeviceGetDevResource", device, ctypes.byref(resource), _SM)
        return resource

    def split(
        self, resource: DevResource, groups: int, least: int
    ) -> tuple[list[DevResource], DevResource]:
        """Take groups of at least so many multiprocessors from a resource; return the rest too.

        The driver rounds `least` up to what the architecture allows.
        """
        if groups > resource.sm.smCount:
            raise DoesNotFit(f"{groups} groups of {resource.sm.smCount} multiprocessors")
        parts, rest, count = (DevResource * groups)(), DevResource(), ctypes.c_uint(groups)
        self._call(
            "cuDevSmResourceSplitByCount",
            parts,
            ctypes.byref(count),
            ctypes.byref(resource),
            ctypes.byref(rest),
            0,
            least,
        )
        if count.value < groups:
            raise DoesNotFit(f"there is room for {count.value} of {groups} groups")
        return list(parts), rest

    def context(self, device: int, resource: DevResource) -> ctypes.c_void_p:
        """Create a green context that has the resource."""
        description, context = ctypes.c_void_p(), ctypes.c_void_p()
        self._call(
            "cuDevResourceGenerateDesc", ctypes.byref(description), ctypes.byref(resource), 1
        )
        self._call("cuGreenCtxCreate", ctypes.byref(context), description, device, _DEFAULT_STREAM)
        return context

    def resource_of(self, context: ctypes.c_void_p) -> DevResource:
        """Resource of a context, which can be split, as the rest of a split cannot."""
        resource = DevResource()
        self._call("cuGreenCtxGetDevResource", context, ctypes.byref(resource), _SM)
        return resource

    def stream(self, context: ctypes.c_void_p) -> int:
        """Create a stream of a context, and return its handle."""
        stream = ctypes.c_void_p()
        self._call("cuGreenCtxStreamCreate", ctypes.byref(stream), context, _NON_BLOCKING, 0)
        return stream.value or 0

    def _call(self, name: str, *arguments: Any) -> None:
        function = getattr(self._library, name, None)
        if function is None:
            raise SetupError(
                f"this CUDA driver has no {name}: green contexts came with CUDA 12.4, their streams "
                "with 12.5",
                "update the driver to 555 or newer",
            )
        code = function(*arguments)
        if code:
            kind = DoesNotFit if code in _DOES_NOT_FIT else SetupError
            raise kind(f"the CUDA driver's {name} returned {code} ({self._error_name(code)})")

    def _error_name(self, code: int) -> str:
        text = ctypes.c_char_p()
        self._library.cuGetErrorName(code, ctypes.byref(text))
        return text.value.decode(errors="replace") if text.value else "unknown"
