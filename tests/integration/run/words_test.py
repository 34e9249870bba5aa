"""More of what is typed or named wrong, each with its next step, and what help has to name."""

import gzip
import json

import input_test
import trace_files

from rig import RigCase


class TriedWords(RigCase):
    check = input_test.WrongWords.check

    def imported(self, name, data):
        path = self.write(name, data if isinstance(data, bytes) else json.dumps(data))
        return ("plimsoll", "corpus", "import", path, "--out", "x.corpus")

    def test_recordings(self):
        whole = json.dumps(trace_files.flat_session("trace_0001", 6)).encode()
        session = trace_files.flat_session("trace_0001", 6)
        session["requests"][2]["in"] = "many"
        (self.folder / "empty").mkdir()
        mend = "mend it there, or import without this file"
        self.check([
            (self.imported("none.json", {"messages": []}), 64,
             "no session left to import: 1 conversations dropped, they ask nothing",
             "name recordings that hold at least one call"),
            (self.imported("list.json", []), 64, "list.json:1: no session in it", mend),
            (self.imported("mute.json", {"messages": [{"role": "user"}]}), 64,
             "messages[0].content: missing", mend),
            (self.imported("many.json", session), 64, "requests[2].in", mend),
            (self.imported("plain.zst", whole), 64, "its name ends in .zst, and it is no zstd file",
             "name it as what it is"),
            (self.imported("packed.json.gz", gzip.compress(whole)), 64,
             "packed.json.gz: it is packed with gzip, and only zstd is read", "gunzip"),
            (("plimsoll", "corpus", "import", self.folder / "empty", "--out", "x"), 64, "file in it",
             "name the folder that holds the recordings"),
        ])

    def test_files_and_folders(self):
        large = self.write("large.yaml", b"# large\n" * (1 << 17) + b"name: x\n")
        empty = self.folder / "empty"
        empty.mkdir()
        self.check([
            (("plimsoll", "check", large), 64, "more than 1048576 bytes",
             "check that it is the right file"),
            (("plimsoll", "agents", "--store", "typo"), 64, "store typo: there is no store yet",
             "another with --store"),
            (("plimsoll", "agents", "--store", empty), 64, "there is no store yet",
             "another with --store"),
        ])
        self.assertEqual(list(empty.iterdir()), [], "looking makes no store")

    def test_agents_flags(self):
        there = ("plimsoll-agent", "--coordinator", "127.0.0.1:9")
        self.check([
            ((*there, "--name", ""), 64, "--name", "leave the flag out"),
            ((*there, "--allow", ""), 64, "--allow", "takes a host, such as gateway.example"),
            ((*there, "--allow", "http://gateway.example"), 64, "--allow", "without scheme"),
            ((*there, "--wait", "0.5"), 4, "attempts; check --coordinator",
             "last: Connection refused"),
        ])
        process = self.start(*there, "--wait", "0.5")
        process.wait_exit()
        for raw in ("UNKNOWN", "ipv4:", "not sent"):
            self.assertNotIn(raw, process.text())

    def test_check_says_what_run_would_miss_here(self):
        bearer = "target:\n  auth: {bearer_env: PLIMSOLL_NO_SUCH_TOKEN}"
        tls = "target:\n  ca_file: nowhere.pem"
        for more, url, says in (
                (bearer, "http://127.0.0.1:9/v1", "set PLIMSOLL_NO_SUCH_TOKEN in the environment"),
                (tls, "https://127.0.0.1:9/v1", "nowhere.pem: cannot be read: No such file")):
            path = self.scenario(url)
            path.write_text(path.read_text().replace("target:", more, 1))
            code, check = self.command("check", path)
            self.assertEqual(code, 0, "a plan may be looked at elsewhere")
            words = " ".join(check.text("out").split())
            self.assertIn(says, words)
            self.assertIn("`plimsoll run` would end with 4 here", words)
            code, run = self.command("run", path, "--store", self.store)
            self.assertEqual(code, 4, run.text())
            self.assertIn(says, " ".join(run.text("err").split()))
        code, check = self.command("check", self.scenario("http://127.0.0.1:9/v1"))
        self.assertNotIn("would end with 4", check.text())


class HelpNames(RigCase):
    def test_flags_that_are_easily_missed(self):
        code, process = self.command("--help")
        self.assertEqual(code, 0)
        for flag in ("--parts", "--color auto|always|never", "check SCENARIO", "--nonce"):
            self.assertIn(flag, process.text("out"))
        check, run = process.text("out").split("plimsoll run SCENARIO")
        self.assertIn("--store", check)

    def test_every_program_has_a_version(self):
        said = []
        for program in ("plimsoll", "plimsoll-agent", "plimsoll-gateway"):
            process = self.start(program, "--version")
            self.assertEqual(process.wait_exit(), 0, process.text())
            name, version = process.text("out").split()
            self.assertEqual(name, program)
            said.append(version)
        self.assertEqual(len(set(said)), 1, said)
