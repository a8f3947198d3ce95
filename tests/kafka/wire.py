"""As much of Kafka's protocol as tests need: which brokers are up, making a topic, where its partitions end.

Three requests over a socket take milliseconds, where each command of Kafka's own tools starts a Java of its own.
The versions of the requests are the oldest that Kafka 4 answers: plain integers, strings and arrays.
"""

import socket
import struct
import time

LIST_OFFSETS, METADATA, CREATE_TOPICS = 2, 3, 19
LATEST = -1


class KafkaRefused(RuntimeError):
    """The broker answered with an error."""


class _Answer:
    """Reads one value after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def number(self, kind: str) -> int:
        (value,) = struct.unpack_from(f">{kind}", self._data, self._at)
        self._at += struct.calcsize(f">{kind}")
        return value

    def text(self) -> str | None:
        length = self.number("h")
        if length < 0:
            return None
        self._at += length
        return self._data[self._at - length : self._at].decode()

    def array(self) -> range:
        return range(self.number("i"))


def _text(value: str) -> bytes:
    return struct.pack(">h", len(value.encode())) + value.encode()


def _ask(address: str, request: int, version: int, body: bytes) -> _Answer:
    host, port = address.rsplit(":", 1)
    message = struct.pack(">hhi", request, version, 0) + _text("slidewheel-tests") + body
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(struct.pack(">i", len(message)) + message)
        with connection.makefile("rb") as reader:
            header = reader.read(4)
            if len(header) < 4:
                raise ConnectionError(f"{address} hung up")
            answer = _Answer(reader.read(*struct.unpack(">i", header)))
    answer.number("i")  # the number of the request
    return answer


def _check(error: int, what: str) -> None:
    if error:
        raise KafkaRefused(f"{what}: error {error} of Kafka's protocol")


def _metadata(address: str, topic: str | None) -> tuple[int, list[int]]:
    """How many brokers are ready, and the partitions of a topic."""
    topics = struct.pack(">i", 0) if topic is None else struct.pack(">i", 1) + _text(topic)
    answer = _ask(address, METADATA, 1, topics)
    brokers = answer.array()
    for _ in brokers:
        answer.number("i"), answer.text(), answer.number("i"), answer.text()
    answer.number("i")  # the controller
    partitions = []
    for _ in answer.array():
        error = answer.number("h")
        _check(error, f"nothing is known of topic {topic!r}")
        answer.text(), answer.number("b")
        for _ in answer.array():
            _, partition, _ = (answer.number(kind) for kind in "hii")
            partitions.append(partition)
            for _ in ("replicas", "replicas in sync"):
                for _ in answer.array():
                    answer.number("i")
    return len(brokers), sorted(partitions)


def is_ready(address: str) -> bool:
    """Whether a broker answers there and takes part in its cluster."""
    try:
        return _metadata(address, None)[0] > 0
    except OSError:
        return False


def create_topic(address: str, topic: str, partitions: int) -> None:
    """Returns when every partition can be written to and read."""
    one_copy, no_assignments, no_settings = 1, 0, 0
    wanted = struct.pack(">i", 1) + _text(topic)
    wanted += struct.pack(">ihii", partitions, one_copy, no_assignments, no_settings)
    answer = _ask(address, CREATE_TOPICS, 2, wanted + struct.pack(">ib", 10_000, False))
    answer.number("i")  # throttled for so long
    for _ in answer.array():
        answer.text()
        error, said = answer.number("h"), answer.text()
        _check(error, f"topic {topic!r} was not made ({said})")
    give_up = time.monotonic() + 10
    # The controller has it; the broker hears of it, and then opens the partitions, a moment later.
    while not _is_open(address, topic):
        if time.monotonic() > give_up:
            raise KafkaRefused(f"topic {topic!r} was made, but can't be read after 10 s")
        time.sleep(0.02)


def _is_open(address: str, topic: str) -> bool:
    try:
        return bool(ends(address, topic))
    except KafkaRefused:
        return False


def ends(address: str, topic: str) -> list[int]:
    """The offset after the last record of each partition."""
    _, partitions = _metadata(address, topic)
    asked = b"".join(struct.pack(">iq", partition, LATEST) for partition in partitions)
    nobodys_replica = -1
    body = struct.pack(">ii", nobodys_replica, 1) + _text(topic) + struct.pack(">i", len(partitions)) + asked
    answer = _ask(address, LIST_OFFSETS, 1, body)
    found = {}
    for _ in answer.array():
        answer.text()
        for _ in answer.array():
            partition, error, _, offset = (answer.number(kind) for kind in "ihqq")
            _check(error, f"no end of partition {partition} of topic {topic!r}")
            found[partition] = offset
    return [found[partition] for partition in partitions]
