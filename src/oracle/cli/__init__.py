"""The command line: parse, call one thing, print. Answers go to stdout, all else to stderr."""

import gc

# Few objects of a short command are garbage. Looking for them takes a tenth of its time, so this
# comes before the imports.
gc.set_threshold(50_000)
