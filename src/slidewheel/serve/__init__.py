"""Stores over HTTP: questions in JSON and Arrow, Prometheus' API for Grafana, and a page."""
