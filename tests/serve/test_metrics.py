"""What the server says of itself."""

import re

LINE = re.compile(r'[a-z_]+(\{([a-z]+="(\\.|[^"\\])*",?)+\})? -?[0-9.e+-]+')


def test_metrics(connect, store):
    client = connect(store)
    for path in ("/stores", "/query?points=3", "/query?store=none", "/nowhere", "/api/v1/label/gate/values"):
        client.get(path)
    reply = client.get("/metrics")
    assert reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    lines = reply.text.splitlines()
    assert [line for line in lines if not line.startswith("#") and not LINE.fullmatch(line)] == []
    for expected in (
        'slidewheel_requests_total{endpoint="/query",status="200"} 1',
        'slidewheel_requests_total{endpoint="/query",status="404"} 1',
        'slidewheel_requests_total{endpoint="other",status="404"} 1',
        'slidewheel_requests_total{endpoint="/api/v1/label/{name}/values",status="200"} 1',
        'slidewheel_request_seconds_count{endpoint="/query"} 2',
        'slidewheel_request_seconds_bucket{endpoint="/query",le="+Inf"} 2',
        "slidewheel_requests_in_flight 1",
        f'slidewheel_store_version{{store="flights"}} {store.version}',
    ):
        assert expected in lines
    counts = [int(line.split()[-1]) for line in lines if line.startswith("slidewheel_request_seconds_bucket")]
    assert len(counts) % 15 == 0
    (memory,) = (int(line.split()[1]) for line in lines if line.startswith("process_resident_memory_bytes"))
    assert memory > 10_000_000
    families = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(set(families)) == len(families) == 6


def test_health(client):
    assert client.get("/health").json() == {
        "status": "ok",
        "stores": 1,
        "version": __import__("slidewheel").__version__,
    }
