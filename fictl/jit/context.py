"""CompilationContext: the architectures of a whole process as nvcc flags, by major version."""

from __future__ import annotations

from collections.abc import Collection

from fictl.arch import Arch, ArchRule, spell, unique
from fictl.errors import SetupError
from fictl.log import warn_once
from fictl.toolchain import Targets, find_nvcc, nvcc_flags, select_targets, visible_gpus

_ANY = ArchRule.parse(">=5.0")


class CompilationContext:
    """Target architectures, read from environment and GPUs on first use, never at import."""

    def __init__(self) -> None:
        self._chosen: set[tuple[int, str]] | None = None

    @property
    def TARGET_CUDA_ARCHS(self) -> set[tuple[int, str]]:  # noqa: N802
        """Return major version, and minor version with suffix: {(9, '0a'), (10, '0a')}.

        A value that the caller sets overrides the environment from then on.
        """
        if self._chosen is not None:
            return self._chosen
        targets = _find()
        if isinstance(targets, SetupError):
            return set()
        return {(arch.major, str(arch).partition(".")[2]) for arch in targets.archs}

    @TARGET_CUDA_ARCHS.setter
    def TARGET_CUDA_ARCHS(self, archs: set[tuple[int, str]]) -> None:  # noqa: N802
        self._chosen = archs

    def get_nvcc_flags_list(
        self, supported_major_versions: Collection[int] | None = None
    ) -> list[str]:
        """Return the flags for the targets of these major versions; None for all targets."""
        archs = unique(Arch.parse(f"{major}.{rest}") for major, rest in self.TARGET_CUDA_ARCHS)
        if supported_major_versions is not None:
            archs = tuple(arch for arch in archs if arch.major in supported_major_versions)
        if not archs:
            raise self._no_arch(supported_major_versions)
        return list(nvcc_flags(archs))

    def _no_arch(self, majors: Collection[int] | None) -> SetupError:
        nvcc = find_nvcc()
        gpus = ", ".join(map(str, visible_gpus())) or "none"
        message = (
            f"No supported CUDA architectures found for major versions {majors or '(any)'}: "
            f"{self._why()}; GPUs here: {gpus}; nvcc {nvcc.release if nvcc else 'not found'}"
        )
        return SetupError(message, "name some with FICTL_CUDA_ARCH_LIST, as in '9.0a 10.0a'")

    def _why(self) -> str:
        if self._chosen is not None:
            named = ", ".join(f"{major}.{rest}" for major, rest in sorted(self._chosen))
            return f"TARGET_CUDA_ARCHS was set to {named or 'nothing'}"
        targets = _find()
        if isinstance(targets, SetupError):
            return targets.message
        return f"the targets are {spell(targets.archs)} ({targets.origin})"


def _find() -> Targets | SetupError:
    """Select the current targets of environment and GPUs; neither errors nor lists are cached."""
    try:
        targets = select_targets("this process", _ANY, find_nvcc())
    except SetupError as error:
        return error
    if targets.warning:
        warn_once(targets.warning)
    return targets


current_compilation_context = CompilationContext()
