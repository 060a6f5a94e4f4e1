"""Who may use a data folder: one embedded stack at a time."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
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


def remove_abandoned(folders: Iterable[Path]) -> int:
    """Remove those of these data folders whose process was killed; how many were removed.

    Left alone: what belongs to another user, and what was never locked, since somebody may just be about to.
    """
    return sum(_remove_if_abandoned(folder) for folder in folders)


def _remove_if_abandoned(folder: Path) -> bool:
    try:
        if folder.is_symlink() or folder.stat().st_uid != os.getuid():
            return False
        with (folder / "lock").open("r+", encoding="utf-8") as file:
            # A lock says more than a process id, which another process may have by now.
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not file.read().strip():
                return False
            shutil.rmtree(folder)
    except OSError:  # no lock in it, or it is held, or somebody else removes it now
        return False
    return True
