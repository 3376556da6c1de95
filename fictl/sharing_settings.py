"""Settings of what users and machines share: remotes, keys, artifacts, GPUs, places, datasets.
Others read them from settings.py.
"""

from __future__ import annotations

from pathlib import Path

from fictl import setting_values as values
from fictl.setting import Setting

REMOTE: Setting[tuple[str, ...]] = Setting(
    "FICTL_REMOTE",
    "list",
    values.urls,
    (),
    "builds of others, nearest first: s3://bucket/prefix gs:// az:// file:// https:// (read only)",
)
REMOTE_MODE = Setting(
    "FICTL_REMOTE_MODE",
    "mode",
    values.choice("read", "write", "off"),
    "read",
    "read: take builds from the remote; write: send own builds there, too; off: no request",
)
REMOTE_TIMEOUT = Setting(
    "FICTL_REMOTE_TIMEOUT",
    "int",
    values.whole(1, 3600),
    5,
    "seconds to wait for a remote's answer; connecting takes 0.9 s at most",
)
SIGNING_KEY: Setting[Path | None] = Setting(
    "FICTL_SIGNING_KEY",
    "path",
    values.path,
    None,
    "the file of the secret key that signs what is sent; fictl trust new-key makes one",
)
SIGNING_PASSWORD = Setting(
    "FICTL_SIGNING_PASSWORD", "text", str, "", "the password of that key, if it has one"
)
TRUST: Setting[Path | None] = Setting(
    "FICTL_TRUST",
    "path",
    values.path,
    None,
    "the file of trusted keys; unset: ~/.config/fictl/trust.toml",
)
NO_DOWNLOAD = Setting(
    "FICTL_NO_DOWNLOAD",
    "bool",
    values.boolean,
    False,
    "make no request at all, by any command or lookup; what is missing is named",
)
ARTIFACTS_DIR: Setting[Path | None] = Setting(
    "FICTL_ARTIFACTS_DIR",
    "path",
    values.path,
    None,
    "the folder of artifacts, a read-only store; unset: artifacts in the cache",
)
ARTIFACTS_REPOSITORY: Setting[tuple[str, ...]] = Setting(
    "FICTL_ARTIFACTS_REPOSITORY",
    "list",
    values.urls,
    (),
    "URLs that artifacts are pulled from, by spaces; the next one is asked for what one lacks",
)
ARTIFACTS_CHECKSUM_DISABLED = Setting(
    "FICTL_ARTIFACTS_CHECKSUM_DISABLED",
    "bool",
    values.boolean,
    False,
    "load artifacts without hashing their local files again; downloads are always hashed",
)
ARTIFACTS_DOWNLOAD_THREADS = Setting(
    "FICTL_ARTIFACTS_DOWNLOAD_THREADS",
    "int",
    values.whole(1, 256),
    4,
    "files transferred at once by fictl artifacts",
)
LOCKED = Setting(
    "FICTL_LOCKED",
    "bool",
    values.boolean,
    False,
    "load only builds that fictl.lock names, of the modules in it; FICTL_DISABLE_JIT implies it",
)
GPU_LOCK_DIR: Setting[Path | None] = Setting(
    "FICTL_GPU_LOCK_DIR",
    "path",
    values.path,
    None,
    "where all users of the GPUs lock them; unset: /run/lock, or what else all can write",
)
PLACES: Setting[Path | None] = Setting(
    "FICTL_PLACES",
    "path",
    values.path,
    None,
    "the file of places that the names of --on are looked up in",
)
RAY_ADDRESS = Setting(
    "RAY_ADDRESS", "text", str, "", "the Ray cluster of --on ray, as in 10.0.0.5:6379"
)
DATASET_PATH = Setting(
    "FICTL_DATASET_PATH",
    "path",
    values.path,
    Path("~/.cache/flashinfer_bench/dataset"),
    "the dataset that commands use where none is named",
    also=("FIB_DATASET_PATH",),
)
APPLY: Setting[Path | None] = Setting(
    "FICTL_APPLY",
    "path",
    values.path,
    None,
    "a dataset whose evaluated solutions run in place of ops: its code runs in this process",
)
TRACING: Setting[Path | None] = Setting(
    "FICTL_TRACING",
    "path",
    values.path,
    None,
    "a folder: workloads of the calls of ops are collected there, as a dataset",
)
RECORD: Setting[Path | None] = Setting(
    "FICTL_RECORD",
    "path",
    values.path,
    None,
    "a folder: calls of FlashInfer's names are recorded there, a file for each process",
)
TRACING_POLICY = Setting(
    "FICTL_TRACING_POLICY",
    "policy",
    values.choice(
        "keep_first_by_axes", "keep_first_by_lengths", "keep_first_k", "keep_all", "sample"
    ),
    "keep_first_by_axes",
    "which calls are kept: one of each sizes, of each sizes and lengths, the first, all, a sample",
)
TRACING_MAX_MB = Setting(
    "FICTL_TRACING_MAX_MB",
    "int",
    values.whole(1, 1 << 20),
    256,
    "megabytes of collected values that a process holds before it writes them",
)
