"""A signal that the main thread does not see before it sleeps is handled all the same."""

from __future__ import annotations

import subprocess
import sys

import pytest

# The other thread takes the signal, so that the main thread's sleep is not interrupted.
_CODE = """
import signal, sys, threading, time
from fictl.child.sure_signal import handle_surely

def handler(number, frame):
    print("handled", flush=True)
    {ends}

handle_surely(signal.SIGTERM, handler)
other = threading.Thread(target=time.sleep, args=(20,), daemon=True)
other.start()
threading.Timer(0.2, signal.pthread_kill, (other.ident, signal.SIGTERM)).start()
time.sleep(20)
"""


def test_a_signal_that_another_thread_got_ends_the_sleep_of_the_main_one() -> None:
    code = _CODE.format(ends="sys.exit(7)")
    done = subprocess.run([sys.executable, "-c", code], timeout=15, stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout) == (7, b"handled\n")


@pytest.mark.parametrize("signals", [2, 5])
def test_more_signals_do_not_interrupt_the_handler(signals: int) -> None:
    ends = f"[signal.raise_signal(number) for _ in range({signals - 1})]; sys.exit(7)"
    code = _CODE.format(ends=ends)
    done = subprocess.run([sys.executable, "-c", code], timeout=15, stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout) == (7, b"handled\n")
