"""How one child process is started, watched and ended so that it never outlives its parent."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

MOST_LOG_BYTES = 10_000_000
"""A log that grew beyond this is begun anew; one older part is kept beside it."""

_PR_SET_PDEATHSIG = 1
_PRCTL = ctypes.CDLL(None, use_errno=True).prctl if sys.platform == "linux" else None


class ChildProcess:
    """A running child that writes all its output to ``log`` (appended).

    It stays in its parent's process group, but an interrupt from the terminal does not reach it: the parent ends its
    children in the order they need. On Linux the kernel kills it when the parent dies, however that happens.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        log: Path,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
    ) -> None:
        """Start ``command``; ``stdin`` is all it can read (secrets belong there: command lines are public).

        Raises ``RuntimeError`` outside the main thread, since the kernel would kill the child with that thread, and
        ``OSError`` when the command cannot be run.
        """
        if threading.current_thread() is not threading.main_thread():
            message = "child processes are started from the main thread: they die with the thread that starts them"
            raise RuntimeError(message)
        self.log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=env,
                preexec_fn=_before_exec(os.getpid()),  # noqa: PLW1509 - it only makes two system calls
            )
        self._feed(stdin)

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the child still runs."""
        return self._process.poll() is None

    @property
    def returncode(self) -> int | None:
        """The exit status (minus the signal's number when one ended it), ``None`` while the child runs."""
        return self._process.poll()

    def wait(self, timeout_seconds: float) -> int | None:
        """The exit status, or ``None`` when the child still runs after ``timeout_seconds``."""
        try:
            return self._process.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            return None

    def terminate(self, timeout_seconds: float) -> int:
        """Ask the child to end, kill it after ``timeout_seconds``, and return its exit status."""
        self._process.terminate()
        returncode = self.wait(timeout_seconds)
        return self.kill() if returncode is None else returncode

    def kill(self) -> int:
        """End the child at once and return its exit status."""
        self._process.kill()
        return self._process.wait()

    def bound_log(self, most_bytes: int = MOST_LOG_BYTES) -> None:
        """Move what a log of more than ``most_bytes`` holds to ``NAME.1``; to be called from time to time.

        The child appends to a file that it keeps open, so the file is copied and emptied; lines that are written in
        between are lost.
        """
        with contextlib.suppress(FileNotFoundError):
            if self.log.stat().st_size > most_bytes:
                # On a full disk nothing can be kept, and emptying the log is what helps.
                with contextlib.suppress(OSError):
                    shutil.copy(self.log, self.log.with_name(f"{self.log.name}.1"))
                os.truncate(self.log, 0)

    def tail(self, lines: int = 20) -> str:
        """The last ``lines`` lines of the log, for error messages."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def _feed(self, stdin: bytes) -> None:
        pipe = self._process.stdin
        if pipe is None:
            return
        try:
            pipe.write(stdin)
            pipe.close()
        except BrokenPipeError:
            pass  # it ended without reading: its exit status and log tell why


def _before_exec(parent: int) -> Callable[[], None]:
    """What the child does between fork and exec: system calls only, no locks, no allocation worth the name."""

    def tie_to_parent() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        if _PRCTL is None:
            return
        _PRCTL(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before the call above
            os._exit(1)

    return tie_to_parent
