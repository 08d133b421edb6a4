"""JSON texts on lines: splitting, reading and writing."""

from __future__ import annotations

import json
from typing import Any, Dict, Iterator, List

from ._errors import bad_answer


class Lines:
    """Splits a byte stream into lines of at most `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: List[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yields the lines that end in `data`. Raises `Error` for one that is too long."""
        *ends, rest = data.split(b"\n")
        for end in ends:
            self._append(end)
            line = b"".join(self._pieces)
            self._pieces, self._size = [], 0
            if line.strip():
                yield line
        self._append(rest)

    def _append(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            raise bad_answer(f"a line has more than {self._limit} bytes.")
        if piece:
            self._pieces.append(piece)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def messages(line: bytes) -> List[Dict[str, Any]]:
    """Returns the messages of a line. Raises `Error` when it holds anything else."""
    try:
        value = json.loads(line.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise bad_answer("it is not a JSON text.") from error
    found = value if isinstance(value, list) else [value]
    if not all(isinstance(message, dict) for message in found):
        raise bad_answer("it is not a JSON-RPC message.")
    return found


def text(**members: Any) -> bytes:
    """Returns a message as a line. Raises `TypeError` or `ValueError` for what JSON can't hold."""
    message = {"jsonrpc": "2.0", **members}
    return json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"
