"""A first file of places: the GPUs of this machine, and the hosts of the user's ssh."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from fictl.errors import UsageError
from fictl.farm.ray.tables import cluster_tables
from fictl.gpu_lock.visible import gpu_names
from fictl.toolchain import visible_gpus
from fictl.user_file import read_text

_HEAD = """\
# Places of fictl: a [[place]] runs one piece of work at a time. `fictl farm check` tries them.
#   name      unique; {0..3} stands for four places
#   launch    the command before the worker's own: ssh, srun, kubectl exec, docker run; none: here
#   python    a Python that has this fictl; default: the path of the one here
#   gpu       as in CUDA_VISIBLE_DEVICES
#   labels    words that --hardware and --on accept
#   engine    "ray", with address, count and require: places in a Ray cluster
"""
_HOST = re.compile(r"(?!-)[\w.-]+")


def first_file(ssh: Sequence[str], config: Path | None = None, ray: str = "") -> str:
    """Return the text of the file; hosts that `ssh` does not name are commented out.

    ray: the address of a running cluster.
    """
    known = hosts_in(config or Path("~/.ssh/config").expanduser())
    unknown = [host for host in ssh if not _HOST.fullmatch(host)]
    if unknown:
        raise UsageError(f"--ssh: {unknown[0]!r} is not a host", "as in --ssh gpu1,gpu2")
    parts = [_HEAD, *_here()]
    parts += [_of_host(host) for host in ssh]
    parts += cluster_tables(ray) if ray else []
    others = [host for host in known if host not in ssh]
    parts += [_commented(_of_host(host)) for host in others]
    return "\n".join(parts)


def hosts_in(config: Path) -> list[str]:
    """List the hosts that a configuration of ssh names, without patterns."""
    try:
        lines = read_text(config, errors="replace", largest=1 << 20).splitlines()
    except OSError:
        return []
    words = [line.split() for line in lines if line.strip().lower().startswith("host ")]
    names = [name for line in words for name in line[1:] if _HOST.fullmatch(name)]
    return [*dict.fromkeys(names)]


def _here() -> list[str]:
    """Return the places of this machine: its GPUs, else its cores."""
    host = re.sub(r"[^\w.-]", "-", platform.node()) or "here"
    names = gpu_names()
    if not names:
        return [f'[[place]]\nname = "{host}"\nlabels = ["cpu"]\n']
    kinds = zip(names, visible_gpus(), strict=False)
    return [
        f'[[place]]\nname = "{host}/{name}"\ngpu = "{name}"\nlabels = ["{gpu.arch.full}"]\n'
        for name, gpu in kinds
    ]


def _of_host(host: str) -> str:
    return (
        f'[[place]]\nname = "{host}"\n'
        f'launch = ["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "{host}"]\n'
        f'python = "{sys.executable}"\ngpu = "0"\n'
    )


def _commented(text: str) -> str:
    return "".join(f"# {line}\n" for line in text.splitlines())
