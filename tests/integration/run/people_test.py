"""What people and CI get of a run: webhooks, JUnit XML, Markdown, the workflow in deploy/ci."""

import http.server
import json
import pathlib
import re
import threading
import xml.etree.ElementTree

from rig import RigCase, wait_until

SOURCE = pathlib.Path(__file__).resolve().parents[3]


class Receiver(http.server.ThreadingHTTPServer):
    """A webhook that fails as often as it is told to, then takes what comes."""

    daemon_threads = True

    def __init__(self, failures):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with self.server.lock:
                    self.server.seen.append(json.loads(body))
                    fails = len(self.server.seen) <= failures
                self.send_response(503 if fails else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args):
                pass

        self.lock = threading.Lock()
        self.seen = []
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/T0/SECRET"
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()


class Audience(RigCase):
    def receiver(self, failures=0):
        receiver = Receiver(failures)
        self.addCleanup(receiver.close)
        return receiver

    def test_a_run_tells_webhooks_and_writes_its_files(self):
        slack, programs = self.receiver(failures=2), self.receiver()
        (self.folder / "hook.url").write_text(programs.url + "\n")
        notify = ("notify:\n  - {url: {env: PLIMSOLL_TEST_HOOK}, on: [started]}\n"
                  "  - {url: {file: hook.url}, form: json}\n")
        scenario = self.scenario(
            self.gateway().url, sessions=[2, 3], target=2, measure="4s", more=notify)
        markdown, junit = self.folder / "summary.md", self.folder / "junit.xml"
        run = self.start("plimsoll", "run", scenario, "--store", self.store, "--markdown", markdown,
                         "--junit", junit, env={"PLIMSOLL_TEST_HOOK": slack.url})
        run_id = run.wait_line(r"run (\S+) \(seed")[1]
        run.wait_line("preflight: ok")
        grown = wait_until(lambda: markdown.exists() and markdown.read_text(), "the first Markdown")
        self.assertTrue(grown.startswith("## RUNNING: rig\n"), grown)
        code = run.wait_exit(180)
        self.assertIn(code, (0, 1, 2, 3), run.text())

        # Failed twice, delivered at the third try, the same message each time.
        self.assertEqual(len(slack.seen), 3, run.text())
        self.assertEqual(slack.seen[0], slack.seen[2])
        self.assertEqual(list(slack.seen[2]), ["text"])
        self.assertIn(run_id, slack.seen[2]["text"])
        events = [message["event"] for message in programs.seen]
        self.assertEqual(events[0], "started")
        self.assertEqual(events[-1], "verdict")
        self.assertIn("phase_ended", events)
        self.assertEqual(programs.seen[-1]["exit_code"], code)
        self.assertEqual(programs.seen[-1]["run_id"], run_id)

        shown_code, shown = self.command("runs", "show", run_id, "--store", self.store)
        self.assertEqual(shown_code, 0)
        self.assertIn("notify: started to $PLIMSOLL_TEST_HOOK: delivered at attempt 3", shown.text())
        self.assertIn("notify: verdict to", shown.text())
        for text in (shown.text(), run.text(), markdown.read_text(), junit.read_text()):
            self.assertNotIn("SECRET", text)
        self.check_junit(junit.read_text(), run_id, code)
        self.check_markdown(markdown.read_text(), run_id, code)
        for flag, kept in (("--junit", junit), ("--markdown", markdown)):
            export_code, export = self.command("runs", "export", run_id, flag, "--store", self.store)
            self.assertEqual(export_code, 0, export.text())
            self.assertEqual(export.text("out").strip(), kept.read_text().strip())

    def check_junit(self, text, run_id, code):
        root = xml.etree.ElementTree.fromstring(text)
        self.assertEqual(root.tag, "testsuites")
        suite = root.find("testsuite")
        cases = suite.findall("testcase")
        self.assertEqual(int(suite.get("tests")), len(cases))
        self.assertGreaterEqual(len(cases), 5)
        properties = {p.get("name"): p.get("value") for p in suite.iter("property")}
        self.assertEqual(properties["run_id"], run_id)
        self.assertEqual(cases[0].get("name"), "target: 2 sessions hold")
        bad = [c for c in cases[:1] if c.find("failure") is not None or c.find("error") is not None]
        self.assertEqual(bool(bad), code != 0)

    def check_markdown(self, text, run_id, code):
        word = {0: "PASS", 1: "FAIL", 2: "TOO CLOSE", 3: "NO DATA"}[code]
        self.assertTrue(text.startswith(f"## {word}: "), text)
        self.assertIn(f"| end | exit {code} |", text)
        self.assertIn(run_id.replace("_", "\\_"), text)
        # Each table's rows have as many cells as its head.
        width = None
        for line in text.splitlines():
            cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else None
            if cells is not None and width is not None:
                self.assertEqual(cells, width, line)
            width = cells

    def test_a_webhook_that_is_not_there_is_found_before_the_run(self):
        scenario = self.scenario(
            "http://127.0.0.1:9/v1", more="notify: {url: {env: PLIMSOLL_NO_HOOK}}")
        code, run = self.command("run", scenario, "--store", self.store)
        self.assertEqual(code, 4, run.text())
        self.assertIn("set PLIMSOLL_NO_HOOK in the environment", run.text())
        code, check = self.command("check", scenario)
        self.assertEqual(code, 0, "a plan may be looked at elsewhere")
        self.assertIn("set PLIMSOLL_NO_HOOK in the environment", " ".join(check.text().split()))
        code, run = self.command("run", scenario, "--store", self.store, "--junit", "/none/x.xml")
        self.assertEqual(code, 64, run.text())


class Workflow(RigCase):
    """deploy/ci: each command in it exists, with each of its flags."""

    def commands(self):
        text = (SOURCE / "deploy/ci/github/plimsoll.yml").read_text().replace("\\\n", " ")
        for line in text.splitlines():
            match = re.match(r"\s*(?:run: )?(plimsoll [^|#]*)", line)
            if match and not line.lstrip().startswith("#"):
                yield match[1].split("||")[0].split()[1:]

    def test_its_commands_exist(self):
        code, process = self.command("--help")
        help_text = process.text("out")
        names = set()
        for words in self.commands():
            command = [words[0], *([words[1]] if words[0] == "window" else [])]
            names.add(" ".join(command))
            if command == ["rehearse"] and "plimsoll rehearse" not in help_text:
                continue  # A program without it: the workflow is written for the next one.
            code, process = self.command(*command, "--help")
            self.assertEqual(code, 0, f"{words}: {process.text()}")
            for flag in (word for word in words if word.startswith("--")):
                self.assertIn(flag, process.text("out"), words)
            self.assertIn("plimsoll " + words[0], help_text)
        self.assertEqual(names, {"check", "rehearse", "window add", "window list", "run"})
