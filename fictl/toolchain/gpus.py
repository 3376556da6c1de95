"""Queries the driver for the GPUs that this process may use; does not need torch."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from fictl import settings
from fictl.arch import Arch
from fictl.errors import SetupError

_LIBRARY = "libcuda.so.1"
_NO_GPU = (34, 100)  # CUDA_ERROR_STUB_LIBRARY, CUDA_ERROR_NO_DEVICE
_CAPABILITY = (75, 76)  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_{MAJOR,MINOR}
_ANY = None  # For any later value of CUDA_VISIBLE_DEVICES.

_known: dict[str | None, Probe] = {}


@dataclass(frozen=True)
class Gpu:
    """One device; `index` is CUDA's, after CUDA_VISIBLE_DEVICES is applied.

    uuid: the same in every process; of the part, where a GPU is divided (MIG).
    """

    index: int
    name: str
    arch: Arch
    uuid: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({self.arch})"


@dataclass(frozen=True)
class Probe:
    """The GPUs that the driver reports; `problem` is set if the driver failed.

    cuda: major version of the newest CUDA whose programs the driver runs; 0 if it is not known.
    """

    gpus: tuple[Gpu, ...] = ()
    problem: str = ""
    cuda: int = 0


class _DriverError(Exception):
    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def visible_gpus() -> tuple[Gpu, ...]:
    return probe().gpus


def require_gpu(problem: str, hint: str) -> None:
    """Raise SetupError(problem, hint) if no GPU is visible."""
    if not visible_gpus():
        raise SetupError(problem, hint)


def probe() -> Probe:
    """Query the driver, with cached results.

    GPUs found are cached for good, because the driver reads CUDA_VISIBLE_DEVICES only once. "No
    GPU" is cached for this value of the variable; a failure is not cached.
    """
    visible = settings.CUDA_VISIBLE_DEVICES.get()
    known = _known.get(_ANY) or _known.get(visible)
    if known is None:
        known = _probe()
        if not known.problem:
            _known[_ANY if known.gpus else visible] = known
    return known


def forget() -> None:
    _known.clear()


def _probe() -> Probe:
    try:
        driver = _Driver(ctypes.CDLL(_LIBRARY))
    except OSError:
        return Probe()
    try:
        return Probe(driver.gpus(), cuda=driver.cuda())
    except _DriverError as error:
        return Probe(problem="" if error.code in _NO_GPU else f"the CUDA driver failed: {error}")


class _Driver:
    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def gpus(self) -> tuple[Gpu, ...]:
        self._call("cuInit", 0)
        count = ctypes.c_int()
        self._call("cuDeviceGetCount", ctypes.byref(count))
        return tuple(self._gpu(index) for index in range(count.value))

    def cuda(self) -> int:
        version = ctypes.c_int()
        self._call("cuDriverGetVersion", ctypes.byref(version))
        return version.value // 1000

    def _gpu(self, index: int) -> Gpu:
        device = ctypes.c_int()
        self._call("cuDeviceGet", ctypes.byref(device), index)
        name = ctypes.create_string_buffer(256)
        self._call("cuDeviceGetName", name, len(name), device)
        major, minor = (self._attribute(attribute, device) for attribute in _CAPABILITY)
        text = name.value.decode(errors="replace")
        return Gpu(index, text, Arch(major, minor), self._uuid(device))

    def _uuid(self, device: ctypes.c_int) -> str:
        """Ask for the UUID; drivers before 11.4 have only the function that knows no MIG."""
        is_new = hasattr(self._library, "cuDeviceGetUuid_v2")
        data = ctypes.create_string_buffer(16)
        self._call("cuDeviceGetUuid_v2" if is_new else "cuDeviceGetUuid", data, device)
        text = data.raw.hex()
        return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))

    def _attribute(self, attribute: int, device: ctypes.c_int) -> int:
        value = ctypes.c_int()
        self._call("cuDeviceGetAttribute", ctypes.byref(value), attribute, device)
        return value.value

    def _call(self, name: str, *arguments: object) -> None:
        code = getattr(self._library, name)(*arguments)
        if code:
            raise _DriverError(code, f"{name} returned {code} ({self._error_name(code)})")

    def _error_name(self, code: int) -> str:
        text = ctypes.c_char_p()
        self._library.cuGetErrorName(code, ctypes.byref(text))
        return text.value.decode() if text.value else "unknown"
