"""`python -m fictl`."""

import sys

from fictl.cli import main

sys.exit(main())
