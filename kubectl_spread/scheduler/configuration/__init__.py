"""KubeSchedulerConfiguration: decoding, validation and profiles."""
