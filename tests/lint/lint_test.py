"""Small bad trees prove that every rule of scripts/lint fires, and a good one that none does."""
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile
import tomllib
import unittest

SOURCE = sys.argv.pop(1) if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "../..")
LINT = os.path.join(SOURCE, "scripts", "lint")
sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("lint", LINT)
MODULE = importlib.util.module_from_spec(importlib.util.spec_from_loader("lint", LOADER))
LOADER.exec_module(MODULE)
with open(LINT + ".toml", "rb") as rules_file:
    RULES = tomllib.load(rules_file)
HEADER = "// What it is.\n#pragma once\n"


def lint(files, *flags):
    """Exit code and lines of the lint over a tree of the given files."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)
        if not flags:
            findings = MODULE.Linter(root, RULES).run()
            return (1 if findings else 0), findings
        out = subprocess.run([sys.executable, LINT, "--root", root, *flags], capture_output=True,
                             text=True, check=False)
        return out.returncode, out.stdout.splitlines() + out.stderr.splitlines()


class LintTest(unittest.TestCase):
    def clean(self, path, text):
        self.assertEqual(lint({path: text}), (0, []))

    def finds(self, path, text, expected):
        code, lines = lint({path: text})
        self.assertEqual(code, 1, lines)
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith(path + ":"), lines)
        self.assertIn(expected, lines[0])

    def test_a_good_tree_is_clean(self):
        self.clean("common/base/a.h", HEADER + "#include <string>\n#include \"common/base/b.h\"\n")
        self.clean("coordinator/store/rocks_store.cc", '#include "rocksdb/db.h"\n')
        self.clean("coordinator/store/run_codec.cc", '#include "plimsoll/v1/results.pb.h"\n')
        self.clean("coordinator/fleet/grpc_server.cc",
                   '#include <grpcpp/server.h>\n#include "plimsoll/v1/control.grpc.pb.h"\n')
        self.clean("coordinator/main.cc", '#include "coordinator/cli/cli.h"\n')

    def test_tests_may_include_anything(self):
        self.clean("tests/sim/a.cc", '#include "agent/replay/a.h"\n#include "coordinator/run/b.h"\n'
                                     '#include "rocksdb/db.h"\n')

    def test_lower_never_includes_higher(self):
        self.finds("common/base/a.cc", '#include "common/plan/plan.h"\n',
                   "common/base/ may not include common/plan/")
        self.finds("common/sse/a.cc", '#include "common/loop/loop.h"\n', "may not include")
        self.finds("common/wire/a.cc", '#include "common/http/transport.h"\n', "may not include")
        self.finds("common/plan/a.cc", '#include "agent/replay/a.h"\n', "may not include")
        self.finds("coordinator/judge/a.cc", '#include "coordinator/store/store.h"\n',
                   "may not include")
        self.finds("coordinator/run/a.cc", '#include "coordinator/report/r.h"\n',
                   "may not include")
        self.finds("common/base/a.cc", '#include "tests/fakes/a.h"\n', "may not include tests/")

    def test_agent_and_coordinator_never_meet(self):
        self.finds("agent/replay/a.cc", '#include "coordinator/judge/bar.h"\n', "may not include")
        self.finds("coordinator/run/a.cc", '#include "agent/replay/a.h"\n', "may not include")
        self.finds("agent/main.cc", '#include "coordinator/run/a.h"\n', "may not include")
        self.finds("coordinator/main.cc", '#include "gateway/engine/engine.h"\n',
                   "may not include")

    def test_a_folder_outside_the_table_is_named(self):
        self.finds("common/novel/a.cc", '#include "common/base/status.h"\n',
                   "is not in the table of layers")

    def test_fences(self):
        for path, header in (
                ("common/config/quantities.cc", "yaml-cpp/yaml.h"),
                ("coordinator/store/run_repo.cc", "rocksdb/db.h"),
                ("coordinator/store/run_repo.cc", "plimsoll/v1/results.pb.h"),
                ("coordinator/run/a.cc", "plimsoll/v1/plan.pb.h"),
                ("common/wire/codec.h", "plimsoll/v1/plan.pb.h"),
                ("coordinator/fleet/fleet.cc", "grpcpp/server.h"),
                ("agent/replay/a.cc", "curl/curl.h"),
                ("agent/replay/a.cc", "boost/asio/io_context.hpp"),
                ("common/http/server/a.h", "boost/beast/http.hpp"),
                ("coordinator/judge/a.cc", "boost/math/distributions/beta.hpp"),
                ("common/stats/a.cc", "boost/process.hpp"),
                ("agent/replay/a.cc", "spdlog/spdlog.h"),
                ("common/plan/a.cc", "simdjson.h"),
                ("common/plan/a.cc", "nlohmann/json.hpp"),
                ("coordinator/run/a.cc", "CLI/CLI.hpp"),
                ("coordinator/store/run_repo.cc", "zstd.h"),
                ("coordinator/run/a.cc", "openssl/evp.h")):
            text = (HEADER if path.endswith(".h") else "") + f"#include <{header}>\n"
            with self.subTest(path=path, header=header):
                self.finds(path, text, "is fenced")

    def test_includes_go_by_the_path_from_the_root(self):
        code, lines = lint({"common/base/a.cc": '#include "b.h"\n', "common/base/b.h": HEADER})
        self.assertEqual((code, len(lines)), (1, 1), lines)
        self.assertIn("by the path from the root", lines[0])

    def test_bans(self):
        for code, instead in (
                ("auto t = std::chrono::steady_clock::now();", "Clock"),
                ("auto t = std::chrono::system_clock::now();", "Clock"),
                ("clock_gettime(0, nullptr);", "Clock"),
                ("std::this_thread::sleep_for(1s);", "Timer"),
                ("usleep(5);", "Timer"),
                ("int x = rand();", "rng.h"),
                ("srand (4);", "rng.h"),
                ("std::random_device seed;", "rng.h"),
                ("std::mt19937_64 rng(1);", "rng.h"),
                ("std::normal_distribution<double> d;", "rng.h"),
                ("int* p = new int(5);", "make_unique"),
                ("delete p;", "unique_ptr")):
            with self.subTest(code=code):
                self.finds("agent/replay/a.cc", f"void F() {{ {code} }}\n", instead)

    def test_bans_look_at_code_only(self):
        self.clean("agent/replay/a.cc", '// a new sleep_for, rand() and delete\n'
                                        'const char* s = "steady_clock \\" rand(";\n'
                                        "/* delete p;\n new int */ int brand(int);\n"
                                        "int n = 1'000; A(const A&) = delete;\n"
                                        'auto r = R"(new int)";\n'
                                        "auto p = std::unique_ptr<A>(new A(1));\n"
                                        "int o = object.rand(), renewed = 1;\n")

    def test_bans_where_they_are_right(self):
        self.clean("common/base/real_clock.cc", "auto t = std::chrono::steady_clock::now();\n")

    def test_lines_are_counted_after_literals_too(self):
        code, lines = lint({"agent/replay/a.cc": 'auto s = R"(\n\n)";\n/*\n*/ int x = rand();\n'})
        self.assertEqual(code, 1)
        self.assertTrue(lines[0].startswith("agent/replay/a.cc:5:"), lines)

    def test_unfinished_work(self):
        self.finds("agent/replay/a.cc", "// TO" "DO: later\n", "finish it")
        self.finds("tests/sim/a.cc", "// FIX" "ME\n", "finish it")

    def test_size_and_headers(self):
        self.clean("agent/replay/a.cc", "int x;\n" * 400)
        self.finds("agent/replay/a.cc", "int x;\n" * 401, "has 401 lines, at most 400")
        self.finds("common/base/a.h", "#pragma once\n", "begins with a comment")
        self.finds("common/base/a.h", "// What.\nint x;\n", "#pragma once")

    def test_bytes_that_are_no_text(self):
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(os.path.join(root, "common/base"))
            with open(os.path.join(root, "common/base/a.cc"), "wb") as file:
                file.write(b"// \xff\n")
            out = subprocess.run([sys.executable, LINT, "--root", root], capture_output=True,
                                 text=True, check=False)
        self.assertEqual(out.returncode, 1)
        self.assertIn("is not UTF-8", out.stdout)

    def test_format(self):
        style = "BasedOnStyle: Google\n"
        code, lines = lint({".clang-format": style, "common/base/a.cc": "int   x;\n"}, "--format")
        if code == 77:
            self.skipTest("clang-format is not installed")
        self.assertEqual(code, 1, lines)
        self.assertIn("common/base/a.cc:1: is not formatted", lines[0])
        code, lines = lint({".clang-format": style, "common/base/a.cc": "int x;\n"}, "--format")
        self.assertEqual((code, lines), (0, []))

    def test_broken_rules_are_an_error(self):
        code, lines = lint({"r.toml": "x"}, "--rules", "/nonexistent/r.toml")
        self.assertEqual(code, 2, lines)


if __name__ == "__main__":
    unittest.main()
