from __future__ import annotations

from fictl.paths import cache_root


def test_it_prints_the_folder_alone(fictl, repo) -> None:
    assert fictl("cache", "path").out == f"{cache_root()}\n"
    assert fictl("cache", "path", "--json").document["data"] == {"path": str(cache_root())}
    assert not cache_root().exists()
