"""Who may use a data folder: one embedded stack at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class FolderTakenError(RuntimeError):
    """Another embedded stack uses the data folder."""


@contextmanager
def exclusive_folder(folder: Path) -> Iterator[None]:
    """The folder, made when it is missing, for this process alone; the kernel lets go of it when the process ends.

    Raises ``FolderTakenError`` at once, naming the process that has it, and ``OSError`` when it cannot be made.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / "lock").open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            raise FolderTakenError(f"{folder} is in use by another `om up` (process {file.read().strip()})") from error
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield
