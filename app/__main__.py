"""``python -m framefleet.app`` is ``framefleet``."""

import sys

from framefleet.app.main import main

if __name__ == "__main__":
    sys.exit(main())
