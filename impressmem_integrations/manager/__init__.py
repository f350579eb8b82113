"""The described system's own API, drop-in: a config, a manager and four tool classes over an `ImpressionStore`.

config    `ImpressMemConfig`
manager   `ImpressMemManager`, async only, as described
tools     the tool classes
mixture   choosing what a mixed reading holds
texts     the texts
"""

from impressmem_integrations.manager.config import ImpressMemConfig
from impressmem_integrations.manager.manager import ImpressMemManager
from impressmem_integrations.manager.tools import (
    OrganizeImpressionsTool,
    RecallImpressionsTool,
    SaveImpressionsTool,
    SaveImpressionTool,
)

__all__ = [
    "ImpressMemConfig",
    "ImpressMemManager",
    "OrganizeImpressionsTool",
    "RecallImpressionsTool",
    "SaveImpressionTool",
    "SaveImpressionsTool",
]
