"""`python -m impressmem_integrations` is the `impressmem` command."""

import sys

from impressmem_integrations.cli import main

sys.exit(main())
