"""Connections to Redis and Valkey: the only package that imports redis."""

from impressmem_integrations.connect.connection import Connection, connect, wrap

__all__ = ["Connection", "connect", "wrap"]
