"""Berth and crane schedule for the port of Skarnvik."""

__version__ = "4.6.0"
