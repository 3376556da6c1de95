"""Needs of a place in a Ray cluster: which cluster, which accelerator, how many GPUs."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from fictl.errors import InvalidValue, shown

SCHEME = "ray://"
VARIABLES = "RAY_AUTH_MODE to token, and RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH"
_ADDRESS = re.compile(r"(?!-)[\w.-]{1,253}:\d{1,5}|\[[\da-fA-F:.]{2,45}\]:\d{1,5}")


@dataclass(frozen=True)
class ClusterNeeds:
    """`gpus` is None where the device of a run decides: one for CUDA, else none."""

    address: str
    accelerator_type: str = ""
    gpus: int | None = None

    def __str__(self) -> str:
        gpus = f"{self.gpus} GPU{'s' if self.gpus != 1 else ''}" if self.gpus else "a core"
        return f"{gpus} of {self.accelerator_type}" if self.accelerator_type else gpus


def address_of(text: str) -> str:
    """Return HOST:PORT of an address, which may begin with ray://."""
    address = text.removeprefix(SCHEME)
    if not _ADDRESS.fullmatch(address) or int(address.rpartition(":")[2]) > 65535:
        raise InvalidValue(f"{shown(repr(text))} is not the address of a Ray cluster", _EXAMPLE)
    return address


_EXAMPLE = "as ray://10.0.0.5:6379: the host of `ray start --head`, and its port"


def split(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def is_loopback(host: str) -> bool:
    """Tell whether only this machine reaches the host; a name other than localhost may be any."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
