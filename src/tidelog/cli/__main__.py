"""`python -m tidelog.cli`: the command line without an installed script."""

import sys

from tidelog.cli import main

sys.exit(main())
