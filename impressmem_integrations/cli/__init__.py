"""The `impressmem` command."""

from impressmem_integrations.cli.main import main

__all__ = ["main"]
