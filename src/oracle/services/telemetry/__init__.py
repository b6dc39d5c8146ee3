"""Runs as traces of OpenTelemetry: live to a collector, or from the stored events."""
