from __future__ import annotations

import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from fictl import process
from fictl.errors import SetupError
from fictl.process import TimedOut, TimeLimit, run, stop_all, stream


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_both_streams_arrive_in_order():
    code = "import os; os.write(1, b'a\\n'); os.write(2, b'b\\n'); os.write(1, b'c\\n')"
    assert run(python(code)).output == "a\nb\nc\n"


def test_the_exit_code_is_kept():
    assert run(python("raise SystemExit(7)")).code == 7


def test_a_killing_signal_is_a_negative_code():
    assert run(python("import os; os.kill(os.getpid(), 9)")).code == -signal.SIGKILL


def test_time_and_memory_are_measured():
    done = run(python("import time; data = bytearray(64 << 20); time.sleep(0.05)"))
    assert done.seconds >= 0.05
    assert done.peak_kib > 64 << 10


def test_variables_are_added_to_the_environment(monkeypatch):
    monkeypatch.setenv("OURS", "1")
    done = run(
        python("import os; print(os.environ['OURS'], os.environ['THEIRS'])"), {"THEIRS": "2"}
    )
    assert done.output == "1 2\n"


def test_words_are_not_seen_by_a_shell():
    done = run([*python("import sys; print(sys.argv[1])"), "$(echo no) ; * 'x"])
    assert done.output == "$(echo no) ; * 'x\n"


def test_standard_input_is_empty():
    assert run(python("import sys; print(repr(sys.stdin.read()))")).output == "''\n"


def test_bytes_that_are_no_text_do_not_stop_the_reading():
    assert run(python("import os; os.write(1, b'\\xff\\n')")).output == "\ufffd\n"


def test_lines_are_handed_over_while_the_program_runs(tmp_path):
    flag = tmp_path / "seen"
    wait = f"import os, time\nwhile not os.path.exists({str(flag)!r}): time.sleep(0.01)"
    done = stream(python(f"print('first', flush=True)\n{wait}"), lambda _: flag.touch())
    assert (done.code, done.output) == (0, "first\n")


def test_the_working_folder_can_be_chosen(tmp_path):
    assert (
        stream(python("import os; print(os.getcwd())"), len, cwd=tmp_path).output == f"{tmp_path}\n"
    )


def test_a_listener_that_fails_ends_the_program():
    def fail(line: str) -> None:
        raise KeyError(line)

    start = time.monotonic()
    with pytest.raises(KeyError, match="first"):
        stream(python("print('first', flush=True); import time; time.sleep(60)"), fail)
    assert time.monotonic() - start < 30


@pytest.mark.parametrize("name", ["no-such-program", "/"])
def test_a_program_that_cannot_be_run_is_named(name):
    with pytest.raises(SetupError, match=f"cannot run {name}: ") as caught:
        run([name])
    assert "executable" in caught.value.hint


def test_a_program_that_hangs_is_ended_with_all_that_it_started():
    start = time.monotonic()
    with pytest.raises(TimedOut, match=r"sh did not end within 0\.2 s"):
        run(["sh", "-c", "sleep 60; true"], timeout=0.2)
    assert time.monotonic() - start < 30


def test_a_limit_is_given_anew_while_the_program_runs():
    limit = TimeLimit(60)
    with pytest.raises(TimedOut, match=r"within 0\.1 s"):
        stream(["sh", "-c", "echo; sleep 60"], lambda _: limit.restart(0.1), timeout=limit)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_limit_that_no_program_has_ends_nothing(monkeypatch, when: str):
    killed: list[int] = []
    monkeypatch.setattr(process.os, "killpg", lambda group, _: killed.append(group))
    limit = TimeLimit(60)
    if when == "after":
        stream(["true"], lambda _: None, timeout=limit)
    limit.restart(0.01)
    time.sleep(0.1)
    assert (killed, limit.is_over) == ([], False)


def test_a_program_that_ends_in_time_is_left_alone():
    assert run(python("print('done')"), timeout=60).output == "done\n"


def test_what_other_threads_run_can_be_ended_and_they_are_told(tmp_path):
    flag = tmp_path / "seen"
    code = "import time; print('first', flush=True); time.sleep(60)"
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(stream, python(code), lambda _: flag.touch())
        while not flag.exists():
            time.sleep(0.01)
        stop_all()
        with pytest.raises(KeyboardInterrupt):
            waiting.result(timeout=30)
    assert run(python("print('next')")).output == "next\n"
