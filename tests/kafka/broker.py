"""A Kafka broker of our own: one node on loopback, gone without a trace at the end of the block."""

import os
import socket
import subprocess
import tempfile
import time
import uuid
from base64 import urlsafe_b64encode
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from slidewheel.spark.java import java_command
from tests.kafka import wire
from tests.kafka.jars import broker_jars

SETTINGS = """\
process.roles=broker,controller
node.id=1
listeners=CLIENTS://127.0.0.1:{clients},CONTROLLER://127.0.0.1:{controller}
listener.security.protocol.map=CLIENTS:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=CLIENTS
controller.listener.names=CONTROLLER
controller.quorum.voters=1@127.0.0.1:{controller}
log.dirs={data}
# A topic whose name is misspelt is an error.
auto.create.topics.enable=false
# There is nobody to keep copies.
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
# The default is a third of the heap.
log.cleaner.dedupe.buffer.size=33554432
"""
HEAP = "-Xmx384m"
QUICK_START = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]


class BrokerFailed(RuntimeError):
    """The broker did not start; the message ends with its log."""


class Broker:
    """`with Broker() as broker:` starts a broker; clients reach it at `broker.address`."""

    def __init__(self, *, patience: float = 60) -> None:
        self.patience = patience
        self.address = ""
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        # Whatever fails in here, what was started is ended and what was written is removed.
        with ExitStack() as stack:
            self._folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="slidewheel-kafka-")))
            self._start(stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._stack:
            self._stop()

    def create_topic(self, topic: str, partitions: int = 1) -> None:
        wire.create_topic(self.address, topic, partitions)

    def ends(self, topic: str) -> list[int]:
        """The offset after the last record of each partition."""
        return wire.ends(self.address, topic)

    @property
    def log(self) -> str:
        return (self._folder / "log").read_text(errors="replace")

    def _start(self, stack: ExitStack) -> None:
        clients, controller = _free_ports(2)
        settings = self._folder / "server.properties"
        settings.write_text(SETTINGS.format(clients=clients, controller=controller, data=self._folder / "data"))
        cluster = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        log = stack.enter_context((self._folder / "log").open("wb"))

        # One word: an id may begin with a dash.
        format_storage = ["format", f"--cluster-id={cluster}", "--config", str(settings)]
        if subprocess.run(_kafka("kafka.tools.StorageTool", *format_storage), stdout=log, stderr=log).returncode:
            raise BrokerFailed(f"Kafka's storage could not be formatted:\n{self.log}")

        self.process = subprocess.Popen(_kafka("kafka.Kafka", str(settings)), stdout=log, stderr=log)
        stack.callback(self._kill)
        self.address = f"127.0.0.1:{clients}"
        give_up = time.monotonic() + self.patience
        while not wire.is_ready(self.address):
            if self.process.poll() is not None:
                raise BrokerFailed(f"Kafka ended with {self.process.returncode} while it started:\n{self.log}")
            if time.monotonic() > give_up:
                raise BrokerFailed(f"Kafka did not answer within {self.patience:g} s:\n{self.log}")
            time.sleep(0.1)

    def _stop(self) -> None:
        assert self.process is not None
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._kill()

    def _kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()


def _kafka(main: str, *arguments: str) -> list[str]:
    jars = os.pathsep.join(map(str, broker_jars()))
    return [str(java_command()), HEAP, *QUICK_START, "-Dlog4j2.level=INFO", "-cp", jars, main, *arguments]


def _free_ports(count: int) -> list[int]:
    # Held together until all are known, so that they differ.
    with ExitStack() as held:
        taken = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [server.getsockname()[1] for server in taken]
