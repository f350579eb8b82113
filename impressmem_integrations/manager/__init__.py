"""The described system's own API: configuration, manager and tool classes, drop-in.

config     the settings of a manager
manager    its methods
reading    readings as flows; mixture chooses what a mixed one holds
texts      contexts, recalls and the maintenance prompt in words
tools      the classes that a host registers as tools
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
