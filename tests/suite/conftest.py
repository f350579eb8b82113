"""The check of the check waits for the store that it checks."""

import importlib.util

collect_ignore = [] if importlib.util.find_spec("impressmem_integrations.store") else ["test_orphans.py"]
