"""Compiler flags that a solution brings: those known to affect nothing but its code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from fictl.arch import Arch, parse_archs, parse_gencode, unique
from fictl.errors import FictlError
from fictl.runnable.error import BuildError
from fictl.trace import Solution

# Why a list of allowed flags: some options run programs, write files or read files of others, and
# nvcc passes the words to a shell.
_CXX = (
    r"-O([0-3sg]|fast)?",
    r"-g[0-3]?",
    r"-w",
    r"-pthread",
    r"-pedantic",
    r"-std=(c|gnu)\+\+\d\w",
    r"-[DU]\w+(=[\w.,+:-]*)?",
    r"-W(no-)?[a-z][\w+-]*(=\d+)?",
    r"-f(no-)?(openmp|fast-math|unroll-loops|PIC|pic|strict-aliasing|exceptions|rtti|permissive"
    r"|math-errno|finite-math-only|associative-math|reciprocal-math|signed-zeros|trapping-math"
    r"|tree-vectorize|tree-slp-vectorize|omit-frame-pointer|inline-functions|inline|wrapv|concepts"
    r"|coroutines|ffp-contract|builtin|common|implicit-templates|operator-names|lto)",
    r"-f(template-depth|constexpr-depth|constexpr-loop-limit|constexpr-ops-limit)=\d+",
    r"-ffp-contract=(on|off|fast)",
    r"-fvisibility=(hidden|default)",
    r"-fvisibility-inlines-hidden",
    r"-m(arch|tune|cpu)=(?!native)[\w.+-]+",
    r"-m(no-)?(avx\w*|fma4?|sse[\w.]*|f16c|bmi2?|popcnt|prefer-vector-width=\d+)",
)
_BOOL = r"=(true|false|0|1)"
_CUDA = (
    r"-O[0-4]",
    r"--?(std)=c\+\+\d\w",
    r"-[DU]\w+(=[\w.,+:-]*)?",
    r"-w",
    r"--?use_fast_math",
    rf"--?(ftz|prec-div|prec-sqrt|fmad){_BOOL}",
    r"--?(expt-)?(relaxed-constexpr|extended-lambda)",
    r"--?(lineinfo|generate-line-info)",
    r"-G",
    r"--?maxrregcount[= ]\d+",
    r"--?(res-usage|resource-usage|keep-device-functions)",
    r"--?(diag-suppress|diag-error|diag-warn)[= ]\d[\d,]*",
    r"-Xcudafe[= ]--diag_suppress=\w+",
    r"--?extra-device-vectorization",
    r"--?Ofast-compile[= ](0|min|mid|max)",
    r"--?(Werror|Wno-[\w-]+|Wext-lambda-captures-this)([= ][\w,-]+)?",
)
_PTXAS = (
    r"-?v|--verbose",
    r"-O[0-4]",
    r"-?-?warn-(on-)?[\w-]+",
    r"-dlcm=\w+",
    r"-dscm=\w+",
    r"--?(def-load-cache|def-store-cache|maxrregcount|register-usage-level)=\w+",
    rf"--?allow-expensive-optimizations{_BOOL}",
    rf"--?fmad{_BOOL}",
    r"--?(suppress-double-demote-warning|disable-warnings|opt-level=[0-4])",
)
_LINK = (
    r"-O[0-3]",
    r"-pthread",
    r"-fopenmp",
    r"-shared",
    r"-s",
    r"-l[A-Za-z][\w+.-]*",
    r"-Wl,(--as-needed|--no-as-needed|-O[0-2]|--gc-sections|--no-undefined|-z,(now|relro|defs))",
)
# Flags that fictl adds or decides itself.
_DROPPED = (
    r"-[IL]/usr/local/cuda[\w.-]*/(include|lib|lib64)(/stubs)?/?",
    r"(-t|--threads)[= ]\d+",
    r"-lcudart(_static)?",
    r"-shared",
    r"-fPIC",
    r"--?gpu-code=.*",
)
_WITH_VALUE = {
    "-Xptxas",
    "-Xcompiler",
    "-Xcudafe",
    "-gencode",
    "--generate-code",
    "-arch",
    "-I",
    "-isystem",
    "--gpu-architecture",
    "-t",
    "--threads",
    "-maxrregcount",
    "--maxrregcount",
    "-diag-suppress",
    "--diag-suppress",
    "--ptxas-options",
    "--compiler-options",
    "-D",
    "-U",
    "-L",
    "-l",
}
_JOINED = {"-I", "-D", "-U", "-L", "-l", "-isystem"}
_LIBRARY = re.compile(r"-l(cublasLt|cublas|cudnn|curand|cusparse|cusolver|cufft|nvrtc|cuda)")


@dataclass(frozen=True)
class Options:
    """`includes` are below the solution's folder; `libraries` are CUDA's, found on this machine."""

    cxx: tuple[str, ...] = ()
    cuda: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    archs: tuple[Arch, ...] = ()


def checked_options(solution: Solution) -> Options:
    """Check the flags; BuildError names the one that is refused."""
    options = solution.spec.compile_options
    if options is None:
        return Options()
    archs: list[Arch] = []
    includes: list[str] = []
    cxx: list[str] = []
    cuda: list[str] = []
    link: list[str] = []
    libraries: list[str] = []
    for flag in _words(options.cflags):
        _sort(solution, "cflags", flag, _is_cxx, cxx, includes)
    for flag in _words(options.cuda_cflags):
        targets = _archs(solution, flag)
        archs += targets
        if not targets:
            _sort(solution, "cuda_cflags", flag, _is_cuda, cuda, includes)
    for flag in _words(options.ld_flags):
        library = _LIBRARY.fullmatch(flag)
        if library:
            libraries.append(library[1])
        else:
            _sort(solution, "ld_flags", flag, _is_link, link, includes)
    return Options(
        (*cxx,),
        (*cuda,),
        (*link,),
        (*dict.fromkeys(includes),),
        (*dict.fromkeys(libraries),),
        unique(archs),
    )


def _words(flags: Sequence[str]) -> Iterator[str]:
    """Join flags with their values, in whichever way they are given."""
    rest = iter(" ".join(flags).split())
    for word in rest:
        if word in _WITH_VALUE:
            value = next(rest, "")
            yield f"{word}{value}" if word in _JOINED else f"{word}={value}"
        else:
            yield word


def _sort(
    solution: Solution,
    group: str,
    flag: str,
    is_allowed: Callable[[str], bool],
    into: list[str],
    includes: list[str],
) -> None:
    if any(re.fullmatch(pattern, flag) for pattern in _DROPPED):
        return
    include = re.fullmatch(r"(?:-I|-isystem)([\w.][\w./+-]*)", flag)
    if include and ".." not in PurePosixPath(include[1]).parts and group != "ld_flags":
        includes.append(include[1])
    elif is_allowed(flag):
        into.append(flag)
    else:
        raise BuildError(
            f"{solution.name}: {group} has {flag!r}, which is not allowed",
            "optimisation, language, warning and -D flags are, -I below the solution's folder, -l "
            "names; libraries of CUDA are found when `dependencies` declares them",
        )


def _is_cxx(flag: str) -> bool:
    return _any(_CXX, flag)


def _is_cuda(flag: str) -> bool:
    name, _, value = flag.partition("=")
    if name in ("-Xcompiler", "--compiler-options"):
        return all(_is_cxx(part) for part in value.split(","))
    if name in ("-Xptxas", "--ptxas-options"):
        return all(_any(_PTXAS, part) for part in value.split(","))
    return _any(_CUDA, flag)


def _is_link(flag: str) -> bool:
    return _any(_LINK, flag)


def _any(patterns: Sequence[str], text: str) -> bool:
    return any(re.fullmatch(pattern, text, re.ASCII) for pattern in patterns)


def _archs(solution: Solution, flag: str) -> tuple[Arch, ...]:
    """Target architectures that a flag names; the build takes them over."""
    name, _, value = flag.partition("=")
    try:
        if name in ("-gencode", "--generate-code"):
            return parse_gencode(f"-gencode={value}")
        if name in ("-arch", "--gpu-architecture"):
            return parse_archs(re.sub(r"^(sm|compute)_", "", value))
    except FictlError as error:
        raise BuildError(f"{solution.name}: {flag}: {error.message}", error.hint) from error
    return ()
