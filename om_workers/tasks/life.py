"""How a worker process lives: it beats while it runs, and gives back what it holds when it is told to stop."""

from __future__ import annotations

import os
import socket
import threading
from typing import Any

from celery import Celery
from celery.signals import worker_init, worker_shutdown, worker_shutting_down

from om_workers.ports.bundle import Ports
from om_workers.ports.errors import OmError
from om_workers.services.running import Running, beat, hand_back


class Life:
    """One worker process, known to leases by host, process and a random part."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._stopped = threading.Event()
        owner = f"{socket.gethostname()}:{os.getpid()}:{ports.ids.new()[:8]}"
        self.running = Running(owner)

    def follow(self, _app: Celery) -> None:
        """Start and stop with the worker. Child-process signals are not sent by the threads pool."""
        worker_init.connect(self._start, weak=False)
        worker_shutting_down.connect(self._drain, weak=False)
        worker_shutdown.connect(self._stop, weak=False)

    def _start(self, **_signal: Any) -> None:
        # The vocabulary is loaded before the first job needs it.
        self._ports.tokens.count("warm")
        threading.Thread(target=self._beat_until_stopped, name="om-heartbeat", daemon=True).start()

    def _beat_until_stopped(self) -> None:
        while not self._stopped.wait(self._ports.timing.heartbeat_seconds):
            try:
                beat(self._ports, self.running)
            except OmError as error:
                self._ports.log.warning("heartbeat_failed", error=type(error).__name__)

    def _drain(self, **_signal: Any) -> None:
        threading.Thread(target=self._give_back_in_time, name="om-drain", daemon=True).start()

    def _give_back_in_time(self) -> None:
        if self._stopped.wait(self._ports.timing.drain_seconds):
            return
        self._give_back()
        # A slot still waits for its model; the job is no longer this process's, and nothing else holds it here.
        os._exit(0)

    def _stop(self, **_signal: Any) -> None:
        self._stopped.set()
        self._give_back()

    def _give_back(self) -> None:
        try:
            returned = hand_back(self._ports, self.running)
        except OmError as error:
            self._ports.log.warning("hand_back_failed", error=type(error).__name__)
            return
        self._ports.log.info("worker_stopped", handed_back=returned, owner=self.running.owner)
