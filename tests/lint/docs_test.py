"""Every test that a page of docs/ names is there."""
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])


def unit_tests():
    """Suite.Name of every GoogleTest, the word behind a slash of instantiated ones left out."""
    for path in (SOURCE / "tests").rglob("*.cc"):
        for suite, name in re.findall(
                r"^TEST(?:_[FP])?\((\w+),\s*(\w+)\)", path.read_text(encoding="utf-8"), re.M):
            yield f"{suite}.{name}"


def python_tests():
    """module.Class of every integration test."""
    for path in (SOURCE / "tests/integration").rglob("*_test.py"):
        for name in re.findall(r"^class (\w+)\(", path.read_text(encoding="utf-8"), re.M):
            yield f"{path.stem}.{name}"


class NamedTests(unittest.TestCase):
    def test_are_there(self):
        known = {*unit_tests(), *python_tests()}
        self.assertGreater(len(known), 500)
        named = set()
        for page in (SOURCE / "docs").glob("*.md"):
            for word in re.findall(r"`([^`\s]+)`", page.read_text(encoding="utf-8")):
                if re.fullmatch(r"[A-Z]\w+\.[A-Z]\w+|\w+_test\.[A-Z]\w+", word):
                    named.add((page.name, word))
        self.assertGreater(len(named), 100)
        self.assertEqual([pair for pair in sorted(named) if pair[1] not in known], [])


if __name__ == "__main__":
    unittest.main()
