"""A first file of places: the GPUs of this machine, and the hosts of the user's ssh."""

from __future__ import annotations

import json
import platform
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from fictl.errors import UsageError
from fictl.farm.ssh_config import HOST, hosts_in
from fictl.gpu_lock.visible import gpu_names
from fictl.toolchain import visible_gpus
from fictl.toolchain.gpus import Gpu

_HEAD = """\
# Places of fictl: a [[place]] runs one piece of work at a time. `fictl farm check` tries them.
#   name      unique; {0..3} stands for four places
#   launch    the command before the worker's own: ssh, srun, kubectl exec, docker run; none: here
#   python    a Python that has this fictl; default: the path of the one here
#   gpu       as in CUDA_VISIBLE_DEVICES
#   labels    words that --hardware and --on accept
"""
_MODEL = re.compile(r"\b[A-Z]{1,2}\d{2,3}[A-Z]?\b")


def first_file(ssh: Sequence[str], config: Path | None = None) -> str:
    """Return the text of the file; hosts that `ssh` does not name are commented out."""
    known = hosts_in(config or Path("~/.ssh/config").expanduser())
    unknown = [host for host in ssh if not HOST.fullmatch(host)]
    if unknown:
        raise UsageError(f"--ssh: {unknown[0]!r} is not a host", "as in --ssh gpu1,gpu2")
    parts = [_HEAD, *_here()]
    parts += [_of_host(host) for host in ssh]
    others = [host for host in known if host not in ssh]
    parts += [_commented(_of_host(host)) for host in others]
    return "\n".join(parts)


def _here() -> list[str]:
    """Return the places of this machine: its GPUs, else its cores."""
    host = re.sub(r"[^\w.-]", "-", platform.node(), flags=re.ASCII)[:60] or "here"
    names = gpu_names()
    if not names:
        return [f'[[place]]\nname = "{host}"\nlabels = ["cpu"]\n']
    kinds = zip(names, visible_gpus(), strict=False)
    return [
        f"[[place]]\nname = {_quoted(f'{host}/{name}')}\ngpu = {_quoted(name)}\n"
        f"labels = [{', '.join(map(_quoted, _labels(gpu)))}]\n"
        for name, gpu in kinds
    ]


def _labels(gpu: Gpu) -> list[str]:
    """Return the model, as in H200, and the architecture."""
    return [*_MODEL.findall(gpu.name)[:1], str(gpu.arch.full)]


def _of_host(host: str) -> str:
    return (
        f'[[place]]\nname = "{host}"\n'
        f'launch = ["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "{host}"]\n'
        f'python = {_quoted(sys.executable)}\ngpu = "0"\n'
    )


def _quoted(text: str) -> str:
    """Write a string of TOML; one of JSON without surrogates is one."""
    return json.dumps(text.encode(errors="replace").decode(), ensure_ascii=False)


def _commented(text: str) -> str:
    return "".join(f"# {line}\n" for line in text.splitlines())
