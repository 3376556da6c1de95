"""A C++ extension of torch: compiled by another process, stored with its hash, loaded."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from dataclasses import asdict, dataclass
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path, PurePosixPath
from types import ModuleType

from fictl import settings
from fictl.jit.compile import ninja_binary
from fictl.jit.diagnose import diagnose
from fictl.log import logger
from fictl.paths import same_packages
from fictl.process import stream
from fictl.removal import remove
from fictl.runnable.error import BuildError
from fictl.runnable.package_folder import put_in_place, read_file, staging

_MANIFEST = "manifest.json"
_MODULE = "module.so"
REQUEST = "request.json"


@dataclass(frozen=True)
class Request:
    """Arguments of torch.utils.cpp_extension.load, and the compilers to use."""

    name: str
    sources: tuple[str, ...]
    cflags: tuple[str, ...]
    cuda_cflags: tuple[str, ...]
    ldflags: tuple[str, ...]
    includes: tuple[str, ...]
    cxx: str
    cuda_home: str


class Extension:
    """Stored in a folder that exists only when it is finished; its manifest has hashes."""

    def __init__(self, title: str, folder: Path, request: Request) -> None:
        self.title = title
        self.folder = folder
        self._request = request

    @property
    def binary(self) -> Path:
        return self.folder / _MODULE

    def is_built(self) -> bool:
        """Tell whether the build is there and whole; remove it if it is damaged."""
        if not os.path.lexists(self.folder):
            return False
        manifest = read_file(self.folder, PurePosixPath(_MANIFEST))
        data = read_file(self.folder, PurePosixPath(_MODULE))
        try:
            expected = json.loads(manifest or b"{}").get("sha256")
        except (ValueError, AttributeError):
            expected = None
        if data is not None and hashlib.sha256(data).hexdigest() == expected:
            return True
        logger().warning("corrupt build %s is built again", self.folder)
        remove(self.folder)
        return False

    def build(self) -> None:
        """Compile in a temporary folder beside; output is kept in the log."""
        name = self._request.name
        logger().info("building %s with torch", self.title)
        with staging(self.folder) as fresh:
            (fresh / REQUEST).write_text(json.dumps(asdict(self._request)), encoding="utf-8")
            finished = stream(
                [sys.executable, "-m", "fictl.runnable.extension_process", str(fresh)],
                lambda _: None,
                env=self._environment(),
            )
            built = fresh / f"{name}.so"
            if finished.code or not os.path.isfile(built):
                raise self._failed(finished.output)
            logger().info("built %s in %.1f s", self.title, finished.seconds)
            for leftover in [*fresh.iterdir()]:
                if leftover != built:
                    remove(leftover)
            os.rename(built, fresh / _MODULE)
            digest = hashlib.sha256((fresh / _MODULE).read_bytes()).hexdigest()
            (fresh / _MANIFEST).write_text(json.dumps({"sha256": digest}), encoding="utf-8")
            put_in_place(fresh, self.folder)

    def load(self) -> ModuleType:
        name = self._request.name
        loader = ExtensionFileLoader(name, str(self.binary))
        spec = spec_from_file_location(name, self.binary, loader=loader)
        assert spec is not None
        import torch  # noqa: F401 its libraries are what the extension links to

        try:
            module = module_from_spec(spec)
            loader.exec_module(module)
        except ImportError as error:
            raise BuildError(f"{self.title} cannot be loaded: {error}") from error
        return module

    def _environment(self) -> dict[str, str]:
        ninja = str(Path(ninja_binary()).parent)
        jobs = settings.MAX_JOBS.get()
        return {
            **same_packages(),
            "PATH": os.pathsep.join([ninja, *os.get_exec_path()]),
            "CXX": self._request.cxx,
            **({"CUDA_HOME": self._request.cuda_home} if self._request.cuda_home else {}),
            **({"MAX_JOBS": str(jobs)} if jobs else {}),
        }

    def _failed(self, output: str) -> BuildError:
        log = output.replace(f"{self._request.includes[0]}/", "")
        log = re.sub(rf"{re.escape(str(self.folder.parent))}/\.\w+/", "", log)
        diagnosis = diagnose(log)
        error = BuildError(
            f"{self.title} does not build: {diagnosis.first}",
            diagnosis.hint,
            log=log,
            first_error=diagnosis.first,
        )
        error.exit_code = diagnosis.exit_code
        return error
