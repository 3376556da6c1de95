"""Builds from a remote: what asking costs over a bare request, and what taking saves over compiling.

The server is SeaweedFS on loopback, behind a proxy that adds 20 ms to every request. Counts that are promised, such
as no request or one download, end the run if they are not kept.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from servers.proxy import Proxy, proxy_of
from servers.seaweed import ACCESS_KEY, SECRET_KEY, shared_seaweed

from builds import BUILD, SPEC, checkout
from sample import Pair, interleave, python, timed
from yardsticks import interpreter, process

LATENCY = 0.02
_TIMES = 9
_TIMED = "import time\nstart = time.perf_counter()\n{}\nprint(time.perf_counter() - start)"


@dataclass(frozen=True)
class Team:
    """A machine's environment: a copy of the package, an empty cache, keys, and a remote behind a proxy."""

    env: dict[str, str]
    proxy: Proxy
    folder: Path

    def machine(self, name: str, **changes: str) -> dict[str, str]:
        """Return the environment of another machine, whose cache is empty."""
        cache = self.folder / name
        shutil.rmtree(cache, ignore_errors=True)
        return {**self.env, "FICTL_WORKSPACE_BASE": str(cache), **changes}

    def without_remote(self) -> dict[str, str]:
        return {name: value for name, value in self.env.items() if name != "FICTL_REMOTE"}


@contextmanager
def team(latency: float = LATENCY) -> Iterator[Team]:
    with ExitStack() as stack:
        env = stack.enter_context(checkout())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(shared_seaweed(folder / "seaweed"))
        proxy = stack.enter_context(proxy_of(server.url))
        proxy.latency = latency
        secret, public = _keys(env, folder)
        yield Team(
            {
                **env,
                "FICTL_REMOTE": "s3://fictl/perf",
                "FICTL_SIGNING_KEY": str(secret),
                "FICTL_TRUST": str(public),
                "AWS_ENDPOINT_URL": proxy.url,
                "AWS_REGION": "us-east-1",
                "AWS_ACCESS_KEY_ID": ACCESS_KEY,
                "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            },
            proxy,
            folder,
        )


def _keys(env: dict[str, str], folder: Path) -> tuple[Path, Path]:
    """Write a secret key, and the list that trusts it."""
    secret, trusted = folder / "ci.key", folder / "trust.toml"
    code = (
        "import os\n"
        "from pathlib import Path\n"
        "from fictl.trust.keys_file import TrustedKey, add\n"
        "from fictl.trust.secret_key import SecretKey\n"
        "key = SecretKey.generate()\n"
        f"path = Path({str(secret)!r})\n"
        "path.write_text(key.text()); path.chmod(0o600)\n"
        "add(TrustedKey('ci', key.public))\n"
    )
    python(code, {**env, "FICTL_TRUST": str(trusted)})
    return secret, trusted


def warm_load() -> Pair:
    """A warm load with a remote set, over one without; in one process, in turns."""
    code = (
        f"import json, os, sys, time, torch, tvm_ffi, fictl.jit.build, fictl.jit.load as load\n{SPEC}\n"
        "url = os.environ.pop('FICTL_REMOTE')\n"
        "def once(remote):\n"
        "    os.environ.pop('FICTL_REMOTE', None)\n"
        "    if remote: os.environ['FICTL_REMOTE'] = url\n"
        "    load._loaded.clear()\n"
        "    start = time.perf_counter(); spec.build_and_load()\n"
        "    return time.perf_counter() - start\n"
        "for _ in range(10): once(True), once(False)\n"
        "pairs = [(once(True), once(False)) for _ in range(300)]\n"
        "clients = {'obstore', 'cryptography'} & set(sys.modules)\n"
        "print(json.dumps([pairs, sorted(clients)]))"
    )
    with team() as shared:
        python(BUILD, shared.without_remote())
        pairs, clients = json.loads(python(code, shared.env))
        _require(
            clients == [] and shared.proxy.requests == [], f"{clients} {shared.proxy.requests}"
        )
    return _paired(pairs)


_MISSES = """
import json, obstore, os, secrets, time
from dataclasses import replace
from obstore.store import from_url
from fictl.jit.build import store_for
from fictl.jit.lookup import look_up
from fictl.jit.remote.pull import pull
{spec}
lookup, store = look_up(spec), store_for(spec)
client = from_url(os.environ["FICTL_REMOTE"], client_options={{"allow_http": True}})

def miss():
    other = replace(lookup, recipe=replace(lookup.recipe, key=secrets.token_hex(12)))
    start = time.perf_counter()
    assert pull(other, store).entry is None
    return time.perf_counter() - start

def bare():
    start = time.perf_counter()
    list(obstore.list(client, secrets.token_hex(12)))
    return time.perf_counter() - start

miss(), bare()
print(json.dumps([(miss(), bare()) for _ in range(30)]))
"""


def miss() -> Pair:
    """A miss over the bare request, once the client is imported and connected."""
    with team() as shared:
        pairs = json.loads(python(_MISSES.format(spec=SPEC), shared.machine("reader")))
    return _paired(pairs)


_ALL_MISSES = """
import json, obstore, os, time
from obstore.store import from_url
from fictl.builds.building import specs_of
from fictl.jit.prefetch import prefetch
specs = specs_of([])
assert len(specs) >= 40, len(specs)
client = from_url(os.environ["FICTL_REMOTE"], client_options={"allow_http": True})

def bare():
    start = time.perf_counter()
    list(obstore.list(client, "nothing"))
    return time.perf_counter() - start

def asked(remote):
    os.environ["FICTL_REMOTE_MODE"] = "read" if remote else "off"
    start = time.perf_counter()
    answers = prefetch(specs, (), patient=True)
    assert not any(getattr(answer, "entry", None) for answer in answers)
    return time.perf_counter() - start

asked(True), asked(False), bare()
print(json.dumps([(asked(True) - asked(False), bare()) for _ in range(5)]))
"""


def all_misses() -> Pair:
    """The misses of all recipes of the set at once, over one bare request."""
    with team() as shared:
        pairs = json.loads(python(_ALL_MISSES, shared.machine("reader")))
    return _paired(pairs)


_BUILT = f"{SPEC}\n{_TIMED.format('entry = spec.build()')}"


def hit() -> Pair:
    """`build()` of scale with an empty cache: from the remote, and by compilers."""
    with team() as shared:
        python(BUILD, shared.machine("ci", FICTL_REMOTE_MODE="write"))

        def ours() -> float:
            shared.proxy.forget()
            seconds = float(python(_BUILT, shared.machine("reader", FICTL_DISABLE_JIT="1")))
            _require(shared.proxy.count("GET .*blobs/") == 1, str(shared.proxy.requests))
            return seconds

        def compiled() -> float:
            return float(python(_BUILT, shared.machine("alone", FICTL_REMOTE_MODE="off")))

        return interleave(ours, compiled, 5)


_ASKED = (
    "from fictl.jit.build import store_for\n"
    "from fictl.jit.lookup import look_up\n"
    "import fictl.jit.remote.pull as remote\n"
    f"{SPEC}\n"
    "lookup, store = look_up(spec), store_for(spec)\n" + _TIMED.format("remote.pull(lookup, store)")
)


def dead() -> tuple[Pair, Pair]:
    """A remote that answers nobody, not even that it is there: the first process, and the next one."""
    with team() as shared, black_hole() as url:
        first, later = [], []
        for number in range(3):
            env = shared.machine(f"machine {number}", AWS_ENDPOINT_URL=url)
            first.append((float(python(_ASKED, env)), timed(lambda: time.sleep(1))))
            later += [(float(python(_ASKED, env)), interpreter()) for _ in range(3)]
        return _paired(first), _paired(later)


@contextmanager
def black_hole() -> Iterator[str]:
    """An address whose queue of connections is full: who connects gets no answer at all."""
    with ExitStack() as stack:
        server = stack.enter_context(socket.socket())
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


_SIGNED = """
import hashlib, json, os, time
from fictl.trust.keys_file import TrustedKey
from fictl.trust.secret_key import SecretKey
from fictl.trust.signature import sign
from fictl.trust.verdict import judge
key, data = SecretKey.generate(), os.urandom(1 << 20)
trusted = (TrustedKey("ci", key.public),)
document = os.urandom(2000)
text = sign(key, document, "it").text()

def checked():
    start = time.perf_counter()
    assert judge(document, text, trusted, ["fictl"], "it").is_trusted
    assert hashlib.sha256(data).hexdigest()
    return time.perf_counter() - start

def bare():
    start = time.perf_counter()
    hashlib.sha256(data).hexdigest()
    return time.perf_counter() - start

checked()
print(json.dumps([(checked(), bare()) for _ in range(100)]))
"""


def signature() -> Pair:
    """The check of a signature and the hash of 1 MB, over that hash."""
    with checkout() as env:
        return _paired(json.loads(python(_SIGNED, env)))


_AT_ONCE = """
import os, sys, time, torch, tvm_ffi, fictl.jit.build, fictl.jit.load
{spec}
start = time.perf_counter()
children = []
for _ in range({count}):
    if not (child := os.fork()):
        spec.build_and_load()
        os._exit(0)
    children.append(child)
assert not any(os.waitpid(child, 0)[1] for child in children)
print(time.perf_counter() - start)
"""


def at_once(count: int = 64) -> Pair:
    """So many processes that ask for one module: with an empty cache and the remote, and warm."""
    code = _AT_ONCE.format(spec=SPEC, count=count)
    with team() as shared:
        python(BUILD, shared.machine("ci", FICTL_REMOTE_MODE="write"))

        def ours() -> float:
            shared.proxy.forget()
            env = shared.machine("reader", FICTL_DISABLE_JIT="1")
            seconds = float(python(code, env))
            downloads = shared.proxy.count("GET .*blobs/")
            _require(downloads == 1, f"{count} processes made {downloads} downloads")
            return seconds

        def warm() -> float:
            env = {**shared.env, "FICTL_WORKSPACE_BASE": str(shared.folder / "reader")}
            return float(python(code, env))

        return interleave(ours, warm, 3)


_SET = """
import time, torch
start = time.perf_counter()
from fictl.builds.building import build
from fictl.jit.progress import LogObserver
from fictl.jit import load
from fictl.jit.store.entry import Entry
from pathlib import Path
made = build([], (), LogObserver())
failed = [one.error for one in made if one.error]
assert not failed, failed
compiled = [one.module for one in made if one.compiled]
for one in made:
    load.load(Entry.read(Path(one.path)))
print(len(made), len(compiled), time.perf_counter() - start)
"""
_PUSHED = """
import time
from fictl.builds.building import specs_of
from fictl.builds.shared import FAILED, push_builds
specs_of([])  # Imports torch, as every command does that asks all ops for their modules.
start = time.perf_counter()
pushed = push_builds([])
seconds = time.perf_counter() - start
failed = [moved.text for moved in pushed.results if moved.state == FAILED]
assert not failed, failed
print(seconds)
"""


def whole_set() -> tuple[Pair, Pair]:
    """The second push of all modules, and a machine that has nothing until all are loaded.

    The modules are built first, for both architectures of the project: minutes, unless a cache has them.
    """
    archs = {"FICTL_CUDA_ARCH_LIST": "8.0 9.0a"}
    with team(latency=0) as shared:
        home = {name: os.environ[name] for name in ("FICTL_WORKSPACE_BASE",) if name in os.environ}
        builder = {**shared.env, **archs, "FICTL_REMOTE_MODE": "off"}
        builder.pop("FICTL_WORKSPACE_BASE")
        python(_SET, {**builder, **home})
        ci = {**builder, **home, "FICTL_REMOTE_MODE": "write"}
        python(_PUSHED, ci)
        shared.proxy.latency = LATENCY
        shared.proxy.forget()
        again = float(python(_PUSHED, ci))
        _require(shared.proxy.count("^PUT .*blobs/") == 0, "a blob was sent again")
        nowhere = str(shared.folder / "no-compilers")

        def cold() -> float:
            env = shared.machine("cold", **archs, FICTL_DISABLE_JIT="1", FICTL_NVCC=nowhere)
            count, compiled, seconds = python(_SET, env).split()
            _require(int(count) >= 40 and compiled == "0", f"{count} modules, {compiled} compiled")
            return float(seconds)

        return (
            _paired([(again, LATENCY)]),
            interleave(cold, lambda: process([sys.executable, "-c", "import torch"]), 3),
        )


def _paired(pairs: list[tuple[float, float]]) -> Pair:
    """Medians of samples that were taken in turns."""
    return Pair(
        median(ours for ours, _ in pairs),
        median(yardstick for _, yardstick in pairs),
        median(ours / yardstick for ours, yardstick in pairs),
    )


def _require(kept: bool, seen: str) -> None:
    if not kept:
        sys.exit(f"promised otherwise: {seen}")
