#!/usr/bin/env python3
"""Runs test classes on the programs of a folder: run_test.py BIN_DIR MODULE[.CLASS]..."""

import os
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    os.environ["PLIMSOLL_BIN_DIR"] = os.path.abspath(sys.argv[1])
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(HERE), str(HERE.parent / "thirdparty")]
    unittest.main(module=None, argv=[sys.argv[0], "-v", *sys.argv[2:]])


if __name__ == "__main__":
    main()
