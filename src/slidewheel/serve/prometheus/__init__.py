"""A part of Prometheus' HTTP API over stores, for Grafana and other clients of it."""
