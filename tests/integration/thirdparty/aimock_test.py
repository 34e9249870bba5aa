"""@copilotkit/aimock, a mock server with chaos switches, from npm: outcomes as section 2 names them."""

import itertools
import json
import os
import pathlib
import shutil
import subprocess
import unittest
import urllib.request

import outsider

PACKAGE = "@copilotkit/aimock@1.43.0"
INSTALL_LIMIT_S = 60

# Whatever is asked is answered with this, four characters a chunk.
FIXTURES = {"fixtures": [{"match": {"model": "m"}, "response": {"content": "low in the water " * 4}}]}

# The server's name of each kind of chaos: the outcome that it must be, and what switches it on for
# every request, alone. None: no chaos. Those of docs/streams.md: a 429 is refused; a connection
# that breaks before the headers a connect_error; JSON that is none, after a 200, a stream_error.
CHAOS = {
    "rateLimit": ("refused", {"rateLimitRate": 1}),
    "disconnect": ("connect_error", {"disconnectRate": 1}),
    None: ("ok", {}),
    "malformed": ("stream_error", {"malformedRate": 1}),
}


def install():
    """The program's path; None, with a message, where there is no npm or no registry."""
    folder = pathlib.Path(os.environ.get("PLIMSOLL_THIRDPARTY_DIR", "build/dev/thirdparty")).resolve()
    binary = folder / "node_modules" / ".bin" / "llmock"
    installed = folder / "node_modules" / "@copilotkit" / "aimock" / "package.json"
    if installed.exists() and json.loads(installed.read_text())["version"] == PACKAGE.split("@")[-1]:
        return binary, ""
    if not shutil.which("npm") or not shutil.which("node"):
        return None, "npm or node is not installed"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "--no-save", "--ignore-scripts",
             "--prefix", folder, PACKAGE],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=INSTALL_LIMIT_S)
    except subprocess.TimeoutExpired:
        return None, f"npm did not install {PACKAGE} within {INSTALL_LIMIT_S} s"
    if done.returncode != 0:
        return None, f"npm cannot install {PACKAGE}: {done.stdout.strip()[-200:]}"
    return binary, ""


class Aimock(outsider.OutsiderCase):
    @classmethod
    def setUpClass(cls):
        cls.binary, why = install()
        if cls.binary is None:
            raise unittest.SkipTest(why)

    def aimock(self, *flags):
        fixtures = self.write("fixtures.json", json.dumps(FIXTURES))

        def argv(port):
            return (self.binary, "--port", port, "--fixtures", fixtures, "--chunk-size", 4,
                    "--latency", 5, *flags)

        return self.outsider(argv)

    def from_aimock(self, server, count, parallel=1):
        return self.calls(server.url, count, parallel=parallel, model="m")

    def test_a_stream(self):
        calls = self.from_aimock(self.aimock(), 12, parallel=4)
        self.assert_all(calls, outcome="ok", status=200, resends=0)
        for call in calls:
            self.assertEqual(call["chunks"], 17)
            self.assertGreater(call["tokens_out"], 0)
            # Sixteen gaps of 5 ms.
            self.assertGreater(call["last_token_ns"] - call["first_token_ns"], 60_000_000)

    def test_too_many_requests(self):
        calls = self.from_aimock(self.aimock("--chaos-ratelimit", 1), 5)
        self.assert_all(
            calls, outcome="refused", status=429, retry_after_ns=1_000_000_000, first_token_ns=None)

    def test_server_errors(self):
        calls = self.from_aimock(self.aimock("--chaos-drop", 1), 5)
        self.assert_all(calls, outcome="http_error", status=500, first_token_ns=None)

    def test_disconnects(self):
        calls = self.from_aimock(self.aimock("--chaos-disconnect", 1), 5)
        self.assert_all(calls, outcome="connect_error", status=0, first_token_ns=None)

    def test_malformed_answers(self):
        calls = self.from_aimock(self.aimock("--chaos-malformed", 1), 5)
        self.assert_all(calls, outcome="stream_error", status=200, first_token_ns=None)

    def test_everything_at_once_leaves_nothing_unclassified(self):
        # Drawn one after the other, disconnects last: 31% of the requests, and two in a row (the
        # call is sent once more) 9% of the calls. A kind is missing once in 100,000 runs.
        server = self.aimock("--chaos-ratelimit", 0.2, "--chaos-drop", 0.2, "--chaos-disconnect",
                             0.6, "--chaos-malformed", 0.2)
        seen = {}
        for call in self.from_aimock(server, 120, parallel=8):
            seen.setdefault(call["outcome"], set()).add(call["status"])
        self.assertEqual(seen, {
            "ok": {200}, "refused": {429}, "http_error": {500}, "connect_error": {0},
            "stream_error": {200}})

    def test_a_run_fails_once_the_chaos_begins(self):
        def scenario():
            self.server = self.aimock("--journal-max", 0)
            # Lanes that come back soon, so that the measured time holds every kind several times.
            text = self.scenario(self.server.url, measure="8s", errors="2%",
                                 more="failure: {back_off_min: 100ms, back_off_max: 200ms}")
            return self.write("scenario.yaml", text.read_text().replace("plimsoll-rehearsal", "m"))

        for _ in range(2):
            run = self.start_run(scenario())
            run.wait_line(r"fleet: 2 agents are here")
            outsider.wait_until(lambda: len(self.journal()) >= 20, "20 calls")
            self.chaos_in_turn(run)
            code = run.wait_exit()
            if not outsider.machine_was_busy(run):
                break
        report = self.report()
        step = report["steps"][0]
        self.assert_says_something(step)
        self.assertEqual(code, 1, run.text())
        self.assert_identities(report)
        self.assertEqual(self.part(step, "errors")["verdict"], "fail")
        self.assert_outcomes_are_the_servers(step)

    def assert_outcomes_are_the_servers(self, step):
        """Each kind of answer has its one outcome, no attempt another one, and all are counted."""
        seen = {outcome: count for outcome, count in step["outcomes"].items() if count}
        self.assertEqual(set(seen), {outcome for outcome, _ in CHAOS.values()}, seen)
        self.assertEqual(sum(seen.values()), step["attempts"])
        self.assertEqual(sum(seen.values()) - seen["ok"], step["failed"])
        journal = self.journal()
        for kind, (outcome, _) in CHAOS.items():
            self.assertLessEqual(seen[outcome], journal.count(kind), (kind, seen))

    def chaos_in_turn(self, run):
        """Every kind for all calls in turn, again and again until the run ends: whenever the
        measured time begins and however fast this machine is, it holds each of them. A share of
        the calls would not do: a disconnect on a kept connection is sent once more, so that a
        call fails by it only if two in a row are hit."""
        for kind, (_, rates) in itertools.cycle(CHAOS.items()):
            if run.popen.poll() is not None:
                return
            self.set_chaos(rates)
            # Enough for calls of which both requests were hit, with four lanes.
            enough = self.journal().count(kind) + 8
            outsider.wait_until(
                lambda: run.popen.poll() is not None or self.journal().count(kind) >= enough,
                f"answers of the kind {kind}")

    def set_chaos(self, rates):
        request = urllib.request.Request(
            self.server.url.removesuffix("/v1") + "/__aimock/chaos", method="POST",
            data=json.dumps(rates).encode(), headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            self.assertEqual(answer.status, 200)

    def journal(self):
        """What the server did with each request so far: a kind of chaos, or None."""
        with urllib.request.urlopen(
                self.server.url.removesuffix("/v1") + "/__aimock/journal", timeout=10) as page:
            return [entry["response"].get("chaosAction") for entry in json.loads(page.read())]
