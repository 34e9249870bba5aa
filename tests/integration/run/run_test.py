#!/usr/bin/env python3
"""Runs test classes on the programs of a folder: run_test.py BIN_DIR MODULE[.CLASS]..."""

import os
import pathlib
import sys
import unittest

# What CTest takes for "skipped" (SKIP_RETURN_CODE): everything was.
SKIPPED = 77
HERE = pathlib.Path(__file__).resolve().parent


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    os.environ["PLIMSOLL_BIN_DIR"] = os.path.abspath(sys.argv[1])
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(HERE), str(HERE.parent / "hooks"), str(HERE.parent / "thirdparty")]
    program = unittest.main(module=None, argv=[sys.argv[0], "-v", *sys.argv[2:]], exit=False)
    result = program.result
    if not result.wasSuccessful():
        sys.exit(1)
    # A class that was skipped as a whole counts as one; nothing else ran then.
    if result.skipped and result.testsRun <= len(result.skipped):
        sys.exit(SKIPPED)


if __name__ == "__main__":
    main()
