"""Which port of this machine can be listened on."""

from __future__ import annotations

import errno
import socket


class PortTakenError(RuntimeError):
    """Another program listens on the port that was asked for, or it cannot be listened on."""


def require_port(host: str, port: int) -> None:
    """Return when ``host:port`` can be listened on now; raises ``PortTakenError`` saying why not."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            # As the server itself will do: a port that was in use a moment ago is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortTakenError(f"port {port} is in use by another program on {host}; choose another one") from error
        raise PortTakenError(f"port {port} on {host} cannot be listened on: {error.strerror}") from error


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port
