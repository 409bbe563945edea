"""Metrics about the exporter itself, for prometheus_client."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, GCCollector, generate_latest, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from kubectl_spread import __version__
from kubectl_spread.exporter.polling import Poller


class HealthCollector(Collector):
    """Collector of the state of a poller."""

    def __init__(self, poller: Poller) -> None:
        self._poller = poller

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics. The metrics of a reading exist only after the first reading."""
        poller = self._poller
        yield GaugeMetricFamily(
            "kubectl_spread_up",
            "1 if the last reading of the cluster succeeded, and no resource was forbidden, else 0.",
            value=int(poller.is_up),
        )
        readings = CounterMetricFamily("kubectl_spread_readings", "Readings of the cluster.", labels=["result"])
        readings.add_metric(["success"], poller.successes)
        readings.add_metric(["failure"], poller.failures)
        yield readings
        build = GaugeMetricFamily("kubectl_spread_build_info", "Version of the exporter.", labels=["version"])
        build.add_metric([__version__], 1)
        yield build
        yield from self._of_last()

    def _of_last(self) -> Iterator[Metric]:
        last = self._poller.last
        if last is None:
            return
        yield GaugeMetricFamily(
            "kubectl_spread_last_reading_timestamp_seconds", "End of the last successful reading.", value=last.at
        )
        yield GaugeMetricFamily(
            "kubectl_spread_last_reading_duration_seconds",
            "Duration of the last successful reading.",
            value=last.duration_s,
        )
        yield GaugeMetricFamily("kubectl_spread_workloads", "Workloads in the last reading.", value=last.workloads)
        yield GaugeMetricFamily(
            "kubectl_spread_undecodable_objects",
            "Objects of the last reading that could not be decoded.",
            value=last.left_out,
        )
        forbidden = GaugeMetricFamily(
            "kubectl_spread_resource_forbidden", "1 for each resource that may not be listed.", labels=["resource"]
        )
        for plural in last.forbidden:
            forbidden.add_metric([plural], 1)
        yield forbidden


def registry_of(poller: Poller) -> CollectorRegistry:
    """Return the registry of the exporter's own metrics: its readings, its process, Python."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(HealthCollector(poller))
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    GCCollector(registry=registry)
    return registry


def health_text(registry: CollectorRegistry) -> str:
    """Return the metrics of a registry in Prometheus' text format 0.0.4."""
    return generate_latest(registry).decode()
