"""Prometheus exporter: reads the cluster repeatedly, and serves the metrics of `status` over HTTP."""
