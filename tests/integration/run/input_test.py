"""Bad input: one clear line that says what and where, the right exit code, nothing half-written."""

import copy
import json
import os
import shutil
import subprocess

import trace_files
import write_ahead_log

from rig import RigCase


class BadScenario(RigCase):
    def refused(self, scenario, *flags):
        code, process = self.command("run", scenario, "--store", self.store, *flags)
        self.assertEqual(code, 64, process.text())
        self.assertEqual(process.text("out"), "")
        self.assertFalse(self.store.exists(), "nothing was begun")
        return process.text("err")

    def test_all_problems_at_once_with_their_lines(self):
        path = self.write("bad.yaml", (
            "name: bad\n"
            "target: {url: ftp://x, model: m}\n"
            "corpus: {synthetic: agentx, heavy: 1, light: 1}\n"
            "mix: {heavy: 50%, light: 40%}\n"
            "sweep: {sessions: [4, 2], warm_up: 5}\n"
            "bar: {ttft_p90: 1 tok/s}\n"
            "colour: red\n"
            "fleet: {local: 1}\n"))
        text = self.refused(path)
        for line, key in (
                (2, "target.url"), (4, "mix"), (5, "sweep.sessions"), (5, "sweep.warm_up"),
                (6, "bar.ttft_p90"), (7, "colour")):
            self.assertRegex(text, rf"bad\.yaml:{line}: {key}")

    def test_not_yaml(self):
        self.assertRegex(self.refused(self.write("bad.yaml", "name: [\nx: {")), r"bad\.yaml:\d+: ")

    def test_bytes_that_are_no_text(self):
        self.assertIn("bad.yaml", self.refused(self.write("bad.yaml", bytes(range(256)) * 4)))

    def test_no_such_scenario(self):
        text = self.refused(self.folder / "absent.yaml")
        self.assertRegex(text, r"absent\.yaml: .*No such file")
        self.assertEqual(len(text.splitlines()), 1)

    def test_a_folder_as_scenario(self):
        self.assertIn(str(self.folder), self.refused(self.folder))

    def test_unknown_flag(self):
        scenario = self.scenario("http://127.0.0.1:9/v1")
        self.assertIn("--colour", self.refused(scenario, "--colour", "red"))

    def test_unknown_command_and_flags_of_the_others(self):
        for program, *words in (
                ("plimsoll", "fly"), ("plimsoll",), ("plimsoll", "run"), ("plimsoll", "check"),
                ("plimsoll", "runs", "list", "--colour"),
                ("plimsoll", "corpus", "show", "--colour"),
                ("plimsoll-agent", "--colour"), ("plimsoll-agent",),
                ("plimsoll-gateway", "--colour")):
            process = self.start(program, *words)
            self.assertEqual(process.wait_exit(), 64, (program, words, process.text()))
            self.assertNotEqual(process.text("err"), "")

    def test_bad_gateway_configuration(self):
        config = self.write(
            "g.yaml", "engine: {copies: none}\nfaults: [{kind: sulk}]\ncolour: red\n")
        process = self.start("plimsoll-gateway", "--config", config)
        self.assertEqual(process.wait_exit(), 64)
        for line, key in ((1, "engine.copies"), (2, r"faults\[0\].kind"), (3, "colour")):
            self.assertRegex(process.text("err"), rf"g\.yaml:{line}: {key}")


class WrongWords(RigCase):
    """Whatever is typed wrong ends in one line: what is wrong, and what to do next."""

    def test_table(self):
        good = self.scenario("http://127.0.0.1:9/v1")
        odd = self.write("odd.yaml", good.read_text().replace("sweep:", "swep:"))
        listing = self.write("list.yaml", "- a\n")
        text = self.write("g.yaml", "just words\n")
        secret = self.write("secret.yaml", good.read_text())
        secret.chmod(0)
        table = [
            # program and words, exit code, what it says, and what to do next
            (("plimsoll", "chekc", good), 64, "unknown command 'chekc'", "did you mean 'check'?"),
            (("plimsoll", "runs", "lst"), 64, "unknown command 'lst' of plimsoll runs",
             "did you mean 'list'?"),
            (("plimsoll", "corpus", "imprt"), 64, "unknown command 'imprt'", "mean 'import'?"),
            (("plimsoll", "check", "--bogus"), 64, "--bogus is no flag of plimsoll check",
             "plimsoll check --help"),
            (("plimsoll", "check", good, "--bogus"), 64, "--bogus is no flag", "--help"),
            (("plimsoll", "run", "--jsn", "x"), 64, "--jsn is no flag of plimsoll run",
             "did you mean --json?"),
            (("plimsoll", "runs", "show", "--stroe", "x"), 64, "--stroe is no flag of plimsoll runs "
             "show", "did you mean --store?"),
            (("plimsoll", "run"), 64, "SCENARIO is required", "plimsoll run --help"),
            (("plimsoll", "run", good, "--nonce", "abc"), 64, "--nonce", "whole number"),
            (("plimsoll", "run", good, "--nonce", "-1"), 64, "--nonce", "whole number"),
            (("plimsoll", "run", good, "--nonce", "99999999999999999999"), 64, "--nonce",
             "whole number"),
            (("plimsoll", "run", good, "--color", "red"), 64, "--color", "auto"),
            (("plimsoll", "check", "absent.yaml"), 64, "absent.yaml: cannot open it: No such file",
             "check the path"),
            (("plimsoll", "check", self.folder), 64, f"{self.folder}: ", "name a file in it"),
            (("plimsoll", "run", odd), 64, "odd.yaml:11: swep: is not a known key",
             'did you mean "sweep"?'),
            (("plimsoll", "run", listing), 64, "list.yaml:1: is a list", "must be a map"),
            (("plimsoll", "runs", "show", "x", "--store", "nowhere"), 64, "store nowhere: there is no "
             "store yet", "`plimsoll run` makes one"),
            (("plimsoll", "serve", "--store", "nowhere"), 64, "store nowhere: there is no store yet",
             "another with --store"),
            (("plimsoll", "runs"), 64, "a command is missing after plimsoll runs",
             "known are list, show and export"),
            (("plimsoll", "corpus"), 64, "a command is missing after plimsoll corpus",
             "known are import, show and synth"),
            (("plimsoll", "runs", "show"), 64, "ID is required", "see plimsoll runs show --help"),
            (("plimsoll", "runs", "list", "more"), 64, "plimsoll runs list takes no such word: more",
             "see plimsoll runs list --help"),
            (("plimsoll", "runs", "export", "x"), 64, "--steps,--parts,--agents,--records",
             "see plimsoll runs export --help"),
            (("plimsoll", "run", good, "--store"), 64, "a value is missing for --store",
             "Folder that keeps runs"),
            (("plimsoll", "run", good, "--http", "here"), 64, "--http: address 'here'",
             "such as 127.0.0.1:7070"),
            (("plimsoll", "corpus", "synth", "--out", "x", "--seed", "-1"), 64, "--seed",
             "whole number"),
            (("plimsoll", "corpus", "synth", "--out", "/nowhere/x"), 64, "/nowhere/x: cannot create "
             "it", "name a file in a folder that is there"),
            (("plimsoll", "corpus", "import", "nowhere", "--out", "x"), 64, "nowhere: no such file",
             "check the path"),
            (("plimsoll-agent", "--coordinator", "here"), 64, "--coordinator: address 'here'",
             "such as 127.0.0.1:7070"),
            (("plimsoll-agent", "--coordinator", "127.0.0.1:9", "--wait", "0.5"), 4,
             "no connection within 0.5 s", "check --coordinator and that `plimsoll run` listens"),
            (("plimsoll-gateway", "--port", "x"), 64, "'x' is no value for --port",
             "Port to listen on"),
            (("plimsoll-gateway", "--seed", "-1"), 64, "--seed", "whole number"),
            (("plimsoll-gateway", "--host", "nohost.invalid"), 4, "'nohost.invalid' is not an "
             "address to listen on", "such as 127.0.0.1"),
            (("plimsoll-agent", "--bogus"), 64, "--bogus is no flag of plimsoll-agent",
             "plimsoll-agent --help"),
            (("plimsoll-agent", "--coordinator", "127.0.0.1:9", "--wiat", "1"), 64, "--wiat",
             "did you mean --wait?"),
            (("plimsoll-gateway", "--confg", "x"), 64, "--confg", "did you mean --config?"),
            (("plimsoll-gateway", "--config", text), 64, "g.yaml:1: is a text",
             "it must be a map of keys and values"),
            (("plimsoll-gateway", "--config", "absent.yaml"), 64, "absent.yaml: cannot be read: No "
             "such file", "check the path"),
            (("plimsoll-gateway", "--config", self.folder), 64, "is a folder", "name the file"),
        ]
        if os.geteuid() != 0:  # root reads everything
            table.append((("plimsoll", "check", secret), 64, "secret.yaml: cannot open it: "
                          "Permission denied", "let this user read it"))
        self.check(table)

    def check(self, table):
        for (program, *words), code, what, next_step in table:
            with self.subTest(words=[program, *map(str, words)]):
                process = self.start(program, *words)
                self.assertEqual(process.wait_exit(), code, process.text())
                lines = process.text("err").splitlines()
                self.assertTrue(lines, "said on standard error")
                said = " ".join(lines)
                self.assertIn(what, said)
                self.assertIn(next_step, said)
                self.assertLessEqual(len(lines), 2, "a line a problem")
                self.assertNotIn(": : ", said)
                self.assertEqual(process.text("out"), "")


class Help(RigCase):
    def test_usage_is_what_one_types(self):
        for program, *words in (
                ("plimsoll", "check"), ("plimsoll", "run"), ("plimsoll", "agents"),
                ("plimsoll", "serve"), ("plimsoll", "runs"), ("plimsoll", "runs", "list"),
                ("plimsoll", "runs", "show"), ("plimsoll", "runs", "export"),
                ("plimsoll", "corpus"), ("plimsoll", "corpus", "import"),
                ("plimsoll", "corpus", "show"), ("plimsoll", "corpus", "synth"),
                ("plimsoll-agent",), ("plimsoll-gateway",)):
            process = self.start(program, *words, "--help")
            self.assertEqual(process.wait_exit(), 0, process.text())
            self.assertIn("Usage: " + " ".join([program, *words]) + " ", process.text("out"))
            self.assertEqual(process.text("err"), "")


class BadCorpus(RigCase):
    def refused(self, data):
        corpus = self.write("odd.corpus", data)
        scenario = self.scenario("http://127.0.0.1:9/v1", corpus=f"{{file: {corpus}}}")
        for words in (("run", scenario, "--store", self.store), ("check", scenario),
                      ("corpus", "show", corpus)):
            code, process = self.command(*words)
            self.assertEqual(code, 64, process.text())
            self.assertEqual(len(process.text("err").splitlines()), 1, process.text("err"))
            self.assertIn("odd.corpus", process.text("err"))
            self.assertFalse(self.store.exists())
        return process.text("err")

    def good(self):
        path = self.folder / "good.corpus"
        code, process = self.command(
            "corpus", "synth", "--out", path, "--heavy", "2", "--light", "2")
        self.assertEqual(code, 0, process.text())
        return path.read_bytes()

    def test_garbage(self):
        self.assertIn("`plimsoll corpus import` makes one", self.refused(b"\x00\xff" * 500))

    def test_empty(self):
        self.refused(b"")

    def test_cut_short(self):
        good = self.good()
        self.refused(good[: len(good) // 2])

    def test_another_version(self):
        good = bytearray(self.good())
        self.assertEqual(good[:2], b"\x08\x01", "the first field is the format's version, 1")
        good[1] = 9
        self.assertIn("a corpus of another version: format 9", self.refused(bytes(good)))

    def test_absent(self):
        scenario = self.scenario("http://127.0.0.1:9/v1", corpus="{file: nowhere.corpus}")
        code, process = self.command("check", scenario)
        self.assertEqual(code, 64)
        self.assertRegex(process.text("err"), r"nowhere\.corpus: .*No such file")


class BadTrace(RigCase):
    def refused(self, text, name="odd.json"):
        self.write(name, text)
        out = self.folder / "out.corpus"
        out.write_bytes(b"the one before")
        before = set(os.listdir(self.folder))
        code, process = self.command("corpus", "import", name, "--out", out)
        self.assertEqual(code, 64, process.text())
        self.assertEqual(process.text("out"), "")
        self.assertEqual(len(process.text("err").splitlines()), 1, process.text("err"))
        self.assertIn(name, process.text("err"))
        self.assertEqual(out.read_bytes(), b"the one before")
        self.assertEqual(set(os.listdir(self.folder)), before, "nothing half-written")
        return process.text("err")

    def changed(self, change):
        session = copy.deepcopy(trace_files.flat_session("trace_0001", 6))
        change(session)
        return json.dumps(session)

    def test_cut_file(self):
        whole = self.changed(lambda session: None)
        self.assertIn("cut short", self.refused(whole[: len(whole) // 2]))

    def test_cut_compressed_file(self):
        zstd = shutil.which("zstd")
        if zstd is None:
            self.skipTest("no zstd program here")
        whole = self.changed(lambda session: None).encode()
        packed = subprocess.run([zstd, "-c"], input=whole, stdout=subprocess.PIPE, check=True)
        self.assertIn("cut short", self.refused(packed.stdout[:-20], "odd.json.zst"))

    def test_broken_chain(self):
        def swap(session):
            ids = session["requests"][3]["hash_ids"]
            ids[2], ids[4] = ids[4], ids[2]

        self.assertRegex(self.refused(self.changed(swap)), r"requests\[3\]")

    def test_wrong_types(self):
        text = self.refused(self.changed(lambda s: s["requests"][2].update({"in": "many"})))
        self.assertIn("requests[2].in", text)

    def test_time_running_backward(self):
        text = self.refused(self.changed(lambda s: s["requests"][4].update(t=1)))
        self.assertRegex(text, r"requests\[4\].*time runs backward")


class BadPlaces(RigCase):
    def refused(self, *flags, codes=(4, 64)):
        """A run that must not begin: its target sees no call."""
        server = self.answers()
        code, process = self.command("run", self.scenario(server.url), *flags)
        self.assertIn(code, codes, process.text())
        self.assertEqual(len(process.text("err").splitlines()), 1, process.text("err"))
        self.assertEqual(server.seen, [])
        return process.text("err")

    def test_store_of_another_schema(self):
        code, _ = self.command("run", self.scenario("http://127.0.0.1:9/v1"), "--store", self.store)
        self.assertEqual(code, 4)
        write_ahead_log.change_first_value(self.store, b"999")
        text = self.refused("--store", self.store)
        self.assertRegex(text, rf"store {self.store}: it has schema \"999\", this program reads")
        code, listed = self.command("runs", "list", "--store", self.store)
        self.assertEqual(code, 64, listed.text())
        self.assertIn('it has schema "999"', listed.text("err"))

    def test_a_file_as_store(self):
        path = self.write("file", "text")
        self.assertIn(str(path), self.refused("--store", path))
        self.assertEqual(path.read_text(), "text")

    def test_a_folder_of_someone_else_as_store(self):
        folder = self.folder / "photos"
        folder.mkdir()
        (folder / "a.jpg").write_text("x")
        self.assertIn(str(folder), self.refused("--store", folder))
        self.assertEqual(os.listdir(folder), ["a.jpg"])

    def test_a_corrupt_store(self):
        code, _ = self.command("run", self.scenario("http://127.0.0.1:9/v1"), "--store", self.store)
        self.assertEqual(code, 4)
        (self.store / "CURRENT").write_text("nonsense")
        self.assertIn(str(self.store), self.refused("--store", self.store))
        code, shown = self.command("runs", "list", "--store", self.store)
        self.assertEqual(code, 64)
        self.assertEqual(len(shown.text("err").splitlines()), 1, shown.text("err"))

    def test_a_store_that_cannot_be_made(self):
        self.assertIn("/proc/nowhere", self.refused("--store", "/proc/nowhere"))

    def test_json_report_that_cannot_be_written(self):
        for path in (self.folder / "no" / "such" / "r.json", self.folder):
            text = self.refused("--store", self.store, "--json", path, codes=(64,))
            self.assertIn(str(path), text)
            self.assertFalse(self.store.exists(), "nothing was begun")

    def test_json_report_of_before_stays_until_the_end(self):
        self.json.write_text("before")
        code, process = self.command("run", self.scenario("http://127.0.0.1:9/v1"),
                                     "--store", self.store, "--json", self.json)
        self.assertEqual(code, 4, process.text())
        self.assertEqual(self.report()["run"]["exit_code"], 4)
        self.assertEqual([p.name for p in self.folder.glob("report.json*")], ["report.json"])

    def test_a_second_run_on_the_same_store(self):
        gateway = self.gateway()
        first = self.start_run(self.scenario(gateway.url, measure="40s"))
        first.wait_line(r"step 1")
        text = self.refused("--store", self.store)
        self.assertRegex(text, rf"another process \(pid {first.pid}\) holds it; wait for it to end, "
                               r"or use another folder \(its run: \d{8}-\d{6}-rig\)")
        # The run that goes on can be looked at, and is not disturbed.
        code, listed = self.command("runs", "list", "--store", self.store)
        self.assertEqual(code, 0, listed.text())
        self.assertIn("running", listed.text())
        self.assertIsNone(first.popen.poll())

    def test_a_listening_place_that_is_taken(self):
        server = self.answers()
        where = server.url.removeprefix("http://").removesuffix("/v1")
        scenario = self.scenario(server.url, fleet=f'{{agents: 1, listen: "{where}"}}')
        code, process = self.command("run", scenario, "--store", self.store)
        self.assertEqual(code, 4, process.text())
        self.assertIn(where, process.text("err"))
        code, listed = self.command("runs", "list", "--store", self.store)
        self.assertEqual((code, listed.text("out")), (0, "no runs"))

    def test_shown_runs_that_are_not_there(self):
        code, shown = self.command("runs", "show", "nothing", "--store", self.store)
        self.assertEqual(code, 64)
        self.assertEqual(len(shown.text("err").splitlines()), 1, shown.text("err"))
        self.assertFalse(self.store.exists(), "looking makes no store")
