# SPDX-License-Identifier: BSD-2-Clause
"""Ending tools/mutants before all is tried: SIGINT and SIGTERM end the processes that it waits for. No exception comes out
of a signal handler, which could leave a lock of the thread pool taken: who waits for such a process learns of it."""
import concurrent.futures
import contextlib
import signal
import threading


class Stopped(Exception):
    """The run was interrupted; what was ended for that has no verdict."""


class Running:
    """The processes of builds and tests."""

    def __init__(self):
        # The handler runs in the main thread, which may be at it just then.
        self._lock, self._ends, self._is_stopped = threading.RLock(), {}, False

    @contextlib.contextmanager
    def one(self, process, end):
        """Raises Stopped at its end if the process may have been ended, as it is where it begins too late."""
        with self._lock:
            self._ends[process] = end
            if self._is_stopped:
                end()
        try:
            yield
        finally:
            with self._lock:
                del self._ends[process]
        if self._is_stopped:
            raise Stopped

    def stop(self):
        with self._lock:
            self._is_stopped = True
            for end in list(self._ends.values()):
                end()


RUNNING = Running()
SIGNALS = (signal.SIGINT, signal.SIGTERM)


def let_interrupt():
    """SIGINT and SIGTERM interrupt from now on: who is started by nohup, or behind an &, would ignore the first for ever."""
    for number in SIGNALS:
        signal.signal(number, lambda *_: RUNNING.stop())


@contextlib.contextmanager
def threads(workers, say):
    """Threads that try faults. An interruption ends what is done with them."""
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        try:
            yield pool
        except Stopped:
            say("interrupted")
            pool.shutdown(wait=False, cancel_futures=True)
