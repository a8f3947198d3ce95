"""A client that knows nothing of this server: the package prometheus-api-client."""

import datetime

import pytest
from prometheus_api_client import MetricRangeDataFrame, MetricSnapshotDataFrame, PrometheusConnect
from prometheus_api_client.exceptions import PrometheusApiClientException

from slidewheel.serve.app import make_app
from slidewheel.serve.stores import Stores
from tests.serve.conftest import START
from tests.serve.serving import served

SECOND = 1_000_000
END = datetime.datetime.fromtimestamp(START // SECOND + 86_400, datetime.UTC)
HOUR = datetime.timedelta(hours=1)


@pytest.fixture(params=["GET", "POST"])
def prometheus(store, request):
    with served(make_app(Stores([store]))) as url:
        yield PrometheusConnect(url=url.rstrip("/"), disable_ssl=True, method=request.param)


def micros(time):
    return int(time.timestamp()) * SECOND


def test_prometheus_api_client(prometheus, store):
    assert prometheus.check_prometheus_connection()
    assert "flights_flights" in prometheus.all_metrics()
    assert prometheus.get_label_names() == ["__name__", "gate", "origin"]
    assert prometheus.get_label_values("gate") == ["0", "1", "2"]
    assert len(prometheus.get_series(END - HOUR, END, params={"match[]": "flights_p90"})) == 15
    assert prometheus.get_metric_metadata("flights_p90")[0]["type"] == "gauge"
    assert prometheus.custom_query("1+1")[1] == "2"

    key = {"origin": "A1", "gate": "2"}
    at = {"time": END.timestamp()}
    query = "sum_over_time(flights_sum_delay{origin='A1',gate='2'}[1d])"
    total = store.query(micros(END) - 86_400 * SECOND, micros(END), keys=("A1", 2))["sum_delay"].to_pylist()
    found = prometheus.custom_query(query, params=at)
    assert [float(one["value"][1]) for one in found] == pytest.approx(total)
    assert MetricSnapshotDataFrame(found).shape[0] == 1

    found = prometheus.custom_query_range("flights_flights", END - 5 * HOUR, END, "1h")
    table = store.query(micros(END - 6 * HOUR), micros(END), every="1h")
    assert sum(float(value) for one in found for _, value in one["values"]) == sum(table["flights"].to_pylist())
    assert MetricRangeDataFrame(found).shape[0] == table.num_rows

    found = prometheus.get_metric_range_data("flights_flights", key, END - 6 * HOUR, END, chunk_size=2 * HOUR)
    values = [float(value) for one in found for _, value in one["values"]]
    last = micros(END) // (300 * SECOND) * 300 * SECOND
    table = store.query(last - 6 * 3600 * SECOND, last, keys=("A1", 2), every="5m")
    assert values == table["flights"].to_pylist()

    found = prometheus.get_metric_aggregation("flights_flights", ["sum", "max"], END - 5 * HOUR, END, "1h")
    assert set(found) == {"sum", "max"}
    prometheus.get_current_metric_value("flights_flights", key)
    with pytest.raises(PrometheusApiClientException, match="422"):
        prometheus.custom_query("rate(flights_flights[5m])")
