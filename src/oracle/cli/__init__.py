"""The command line: parse, call one thing, print. Answers go to stdout, all else to stderr."""

import gc
import sys

if sys.platform == "win32":
    # Said here, because the imports that follow would fail with a traceback.
    sys.exit("oracle does not work on Windows yet; use it in WSL")

# Few objects of a short command are garbage. Looking for them takes a tenth of its time, so this
# comes before the imports.
gc.set_threshold(100_000)
