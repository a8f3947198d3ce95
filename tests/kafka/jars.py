"""The jars of a Kafka broker and of Spark's connector: fetched once, by the Ivy that is among Spark's own jars."""

import hashlib
import os
import ssl
import struct
import subprocess
import tempfile
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pyspark

from slidewheel.spark.java import java_command

WANTED = Path(__file__).with_name("jars.xml")
CACHE = Path(__file__).parents[2] / ".cache" / "kafka"
SPARK_JARS = Path(pyspark.__file__).parent / "jars"


class JarsNotFetched(RuntimeError):
    """The registry could not be reached, or does not hold what jars.xml names."""


def broker_jars(cache: Path = CACHE) -> list[Path]:
    return sorted((_fetched(cache) / "broker").iterdir())


def connector_jars(cache: Path = CACHE) -> list[Path]:
    return sorted((_fetched(cache) / "connector").iterdir())


def _fetched(cache: Path) -> Path:
    """The folder that holds what jars.xml names: it is there as a whole or not at all."""
    folder = cache / hashlib.sha256(WANTED.read_bytes()).hexdigest()[:16]
    if folder.exists():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    # Ivy's own cache is thrown away with the rest: it has no locks, and two runs may fetch at the same time.
    with tempfile.TemporaryDirectory(dir=cache, prefix="fetching-") as scratch:
        _fetch(Path(scratch))
        try:
            Path(scratch, "jars").rename(folder)
        except OSError:
            # Another run was faster.
            if not folder.exists():
                raise
    return folder


def _fetch(scratch: Path) -> None:
    ivy = next(SPARK_JARS.glob("ivy-*.jar"))
    pattern = str(scratch / "jars" / "[conf]" / "[artifact]-[revision].[ext]")
    # What is said to Java itself comes last, and so wins.
    options = " ".join([*_machine_settings(scratch), os.environ.get("JAVA_TOOL_OPTIONS", "")])
    done = subprocess.run(
        [java_command(), "-jar", ivy, "-warn", "-cache", scratch / "ivy", "-ivy", WANTED, "-retrieve", pattern],
        env=os.environ | {"JAVA_TOOL_OPTIONS": options},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        # Its progress is lines of dots.
        said = "\n".join(line for line in done.stdout.splitlines() if line.strip() and not line.startswith(".."))
        raise JarsNotFetched(
            f"the jars for tests with Kafka could not be fetched:\n{said}\n"
            f"{WANTED} names them. Where a line says 'Server access error', the registry was not reached: see to the "
            "network, to HTTPS_PROXY and SSL_CERT_FILE or their like in JAVA_TOOL_OPTIONS, and run again. "
            "Where there is none, the registry does not hold that version."
        )


def _machine_settings(scratch: Path) -> Iterator[str]:
    """What the machine tells other programs about its network, said in a way that Java listens to."""
    for scheme, address in urllib.request.getproxies().items():
        if scheme in ("http", "https"):
            proxy = urllib.parse.urlsplit(address if "//" in address else f"//{address}")
            yield f"-D{scheme}.proxyHost={proxy.hostname} -D{scheme}.proxyPort={proxy.port or 80}"
    if trusted := os.environ.get("SSL_CERT_FILE"):
        store = scratch / "trusted.jks"
        store.write_bytes(_java_key_store(ssl.create_default_context(cafile=trusted).get_ca_certs(binary_form=True)))
        yield f"'-Djavax.net.ssl.trustStore={store}'"


def _java_key_store(certificates: list[bytes]) -> bytes:
    """Certificates in the one form that every Java reads."""

    def text(value: str) -> bytes:
        return struct.pack(">H", len(value)) + value.encode()

    store = struct.pack(">III", 0xFEEDFEED, 2, len(certificates))
    for number, certificate in enumerate(certificates):
        store += struct.pack(">I", 2) + text(str(number)) + struct.pack(">q", 0) + text("X.509")
        store += struct.pack(">I", len(certificate)) + certificate
    # Java checks this only if it is given the password, but always wants it to be there.
    return store + hashlib.sha1("changeit".encode("utf-16-be") + b"Mighty Aphrodite" + store).digest()
