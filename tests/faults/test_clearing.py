"""Somebody clears the cache while others build and load: nobody loses anything but time."""

from __future__ import annotations

_SECONDS = 4
_LOADERS = 3
_CLEARERS = 2

# Each turn forgets what it has loaded, so that it looks, holds and loads anew.
_LOAD = f"""import os, sys, time
sys.modules.update(dict.fromkeys(["torch", "numpy", "ml_dtypes", "cuda"]))
from fictl.jit import load
from fictl.jit.store import use
from fictl.project import find
spec = find("twice")[0].load("jit").module()
spec.build_and_load()
end, turns = time.monotonic() + {_SECONDS}, 0
while time.monotonic() < end:
    load._loaded.clear()
    for descriptor in use._held.values():
        os.close(descriptor)
    use._held.clear()
    assert spec.build_and_load().twice(21) == 42
    turns += 1
print(turns)
"""
_CLEAR = f"""import itertools, time
from fictl.jit.cache.removal import clear, gc
from fictl.paths import cache_root
end = time.monotonic() + {_SECONDS}
ways = (lambda: clear(cache_root()), lambda: gc(cache_root(), max_size=0))
for way in itertools.cycle(ways):
    if time.monotonic() > end:
        break
    way()
    time.sleep(0.05)
"""


def test_loading_goes_on_while_the_cache_is_cleared(project, start) -> None:
    quiet = {"FICTL_LOGGING_LEVEL": "error"}
    children = [start("-c", _LOAD, **quiet) for _ in range(_LOADERS)]
    children += [start("-c", _CLEAR, **quiet) for _ in range(_CLEARERS)]
    said = [child.communicate(timeout=120) for child in children]
    assert [child.returncode for child in children] == [0] * len(children), said
    assert [err for _, err in said] == [""] * len(children)
    assert all(int(out) > 1 for out, _ in said[:_LOADERS])
    assert project.compiles > 1


def test_what_is_loaded_survives_a_clear_by_hand(project, start, fictl_) -> None:
    code = _LOAD.partition("end, turns")[0] + "print('loaded', flush=True)\nsys.stdin.read()\n"
    child = start("-c", code, FICTL_LOGGING_LEVEL="error")
    assert child.stdout.readline() == "loaded\n"
    (entry,) = project.entries
    answer = fictl_("cache", "clear")
    assert answer.code == 0
    assert "in use" in answer.out
    assert entry.path.is_dir()
    child.communicate()
    assert fictl_("cache", "clear").code == 0
    assert not entry.path.exists()
