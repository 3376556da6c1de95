"""The first real error in a log, and the hint that goes with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import FictlError
from fictl.jit.diagnose import BuildFailed, Diagnosis, diagnose, ran_out_of_memory

CASES = {
    "g++": (
        "[1] a.cpp\nFAILED: [code=1] a.o \n/usr/bin/g++ -Wno-error -I/x/error: /a.cpp -o a.o\n"
        "In file included from a.cpp:1:\n"
        "a.h:3:5: error: 'foo' was not declared in this scope\n    3 | foo\n"
        "a.h:4:5: error: and more\nninja: build stopped: subcommand failed.\n",
        "a.h:3:5: error: 'foo' was not declared in this scope",
        "",
    ),
    "nvcc": (
        'FAILED: a.o\nnvcc a.cu\na.cu(7): error: identifier "bar" is undefined\n\n'
        '1 error detected in the compilation of "a.cu".\n',
        'a.cu(7): error: identifier "bar" is undefined',
        "",
    ),
    "missing header": (
        "FAILED: a.o\ng++ a\na.cpp:1:10: fatal error: p/x.h: No such file or directory\n",
        "a.cpp:1:10: fatal error: p/x.h: No such file or directory",
        "include_dirs",
    ),
    "undefined symbol": (
        "FAILED: module.so\ng++ -o module.so\n/usr/bin/ld: a.o: in function `f':\n"
        "a.cpp:(.text+0x5): undefined reference to `scale(int)'\n"
        "collect2: error: ld returned 1 exit status\n",
        "a.cpp:(.text+0x5): undefined reference to `scale(int)'",
        "declared but not defined",
    ),
    "missing library": (
        "/usr/bin/ld: cannot find -lnope: No such file or directory\ncollect2: error: ld returned",
        "/usr/bin/ld: cannot find -lnope: No such file or directory",
        "extra_ldflags",
    ),
    "new architecture": (
        "nvcc fatal   : Unsupported gpu architecture 'compute_103a'\n",
        "nvcc fatal   : Unsupported gpu architecture 'compute_103a'",
        "newer CUDA",
    ),
    "new architecture, other words": (
        "nvcc fatal   : Value 'sm_103a' is not defined for option 'gpu-architecture'\n",
        "nvcc fatal   : Value 'sm_103a' is not defined for option 'gpu-architecture'",
        "newer CUDA",
    ),
    "new host compiler": (
        "host_config.h:143:2: error: #error -- unsupported GNU version! gcc versions later than 13\n",
        "host_config.h:143:2: error: #error -- unsupported GNU version! gcc versions later than 13",
        "CXX=g++-12",
    ),
    "shared memory": (
        "ptxas error   : Entry function '_Z1kv' uses too much shared data (0x20000 bytes)\n",
        "ptxas error   : Entry function '_Z1kv' uses too much shared data (0x20000 bytes)",
        "48 KB",
    ),
    "full disk": (
        "as: /tmp/x.o: No space left on device\n",
        "as: /tmp/x.o: No space left on device",
        "or of TMPDIR is full",
    ),
    "full disk, seen by ninja": (
        "[1] a.cpp\nninja: build stopped: Error writing to build log: No space left on device.\n",
        "ninja: build stopped: Error writing to build log: No space left on device.",
        "or of TMPDIR is full",
    ),
    "no compiler": ("/bin/sh: 1: /opt/nvcc: not found\n", "/bin/sh: 1: /opt/nvcc: not found", ""),
    "out of memory": (
        "g++: fatal error: Killed signal terminated program cc1plus\n",
        "g++: fatal error: Killed signal terminated program cc1plus",
        "FICTL_MAX_JOBS=1",
    ),
    "silence": (
        "[1] a.cpp\nninja: build stopped: subcommand failed.\n",
        "a compiler failed without a message",
        "",
    ),
}


@pytest.mark.parametrize(("log", "first", "hint"), CASES.values(), ids=CASES)
def test_the_first_real_error_and_its_hint_are_found(log, first, hint):
    found = diagnose(log)
    assert found.first == first
    assert hint in found.hint
    assert bool(hint) == bool(found.hint)


@pytest.mark.parametrize(
    "log",
    [
        "Killed\n",
        "sh: line 1: 123 Killed   cicc --arch\n",
        "g++: fatal error: Killed signal terminated program cc1plus\n",
        "nvcc error   : 'cicc' died due to signal 9 (Kill signal)\n",
        "cc1plus: out of memory allocating 65536 bytes\n",
        "ptxas fatal   : Memory allocation failure\n",
        "FAILED: [code=137] a.o \n",
    ],
)
def test_a_compiler_that_was_killed_for_memory_is_told(log):
    assert ran_out_of_memory(log)


@pytest.mark.parametrize(
    "log",
    [
        "a.cpp:3:1: error: 'isKilled' was not declared\n",
        "a.cpp:3:1: error: unknown type name 'Killed'\n",
        "a.cpp:9: static_assert failed: 'died due to a bad cast'\n",
        "FAILED: [code=1] a.o\n",
    ],
)
def test_other_failures_are_not_taken_for_it(log):
    assert not ran_out_of_memory(log)


def test_a_failed_build_says_error_hint_repeat_and_log():
    error = BuildFailed("answer", Diagnosis("a.cpp:1: error: x", "do y"), Path("/c a/failed"))
    assert isinstance(error, FictlError)
    assert str(error) == (
        "answer does not build: a.cpp:1: error: x\n"
        "  hint: do y\n"
        "  repeat: ninja -v -C '/c a/failed'\n"
        "  log: /c a/failed/build.log"
    )


def test_without_a_hint_it_goes_on_to_the_next_line():
    error = BuildFailed("answer", Diagnosis("a.cpp:1: error: x", ""), Path("/c"))
    assert error.hint == "repeat: ninja -v -C /c\n  log: /c/build.log"


@pytest.mark.parametrize(
    ("log", "code"),
    [
        ("a.cpp:3:1: error: expected ';'", 1),
        ("undefined reference to `f()'", 1),
        ("as: a.o: No space left on device", 3),
        ("ld: final link failed: Disk quota exceeded", 3),
        ("Killed", 3),
        ("#error -- unsupported GNU version! gcc versions later than 15 are not supported!", 3),
    ],
)
def test_the_exit_code_tells_the_module_s_fault_from_the_machine_s(log, code):
    assert BuildFailed("answer", diagnose(log), Path("/c")).exit_code == code


def test_what_ninja_itself_refuses_is_no_silence():
    said = "ninja: error: build.ninja:7: expected newline, got '|'"
    assert diagnose(f"ninja: Entering directory `/x'\n{said}\n").first == said
