"""A run that holds, and what preflight blocks."""

import json
import re
import socket
import threading

from rig import RigCase, alive


class HealthyRun(RigCase):
    def test_report_json_and_store_agree(self):
        run = self.run_to_end(lambda: self.scenario(self.gateway().url, sessions=[4, 5], target=4))
        self.assertEqual(run.code, 0, run.text())
        report = self.report()

        self.assertRegex(run.text("out"), r"\APASS +4 sessions hold")
        self.assertEqual([step["sessions"] for step in report["steps"]], [4, 5])
        self.assertEqual(report["verdict"]["exit_code"], 0)
        self.assert_identities(report)
        for step in report["steps"]:
            self.assertGreater(step["attempts"], 36)
            self.assertEqual(len(step["agents"]), 2)
            self.assertEqual(
                step["attempts"], sum(agent["attempts"] for agent in step["agents"]), step)
            self.assertGreater(step["tokens_cached"], 0)
            self.assertLess(step["tokens_cached"], step["tokens_in"])

        self.check_store(report)
    def check_store(self, report):
        run_id = report["run"]["id"]
        sentence = report["capacity"]["sentence"]
        code, listed = self.command("runs", "list", "--store", self.store)
        self.assertEqual(code, 0, listed.text())
        self.assertRegex(listed.text(), re.escape(run_id) + r".*exit 0\n\s+" + re.escape(sentence))

        code, shown = self.command("runs", "show", run_id, "--store", self.store, "--json")
        self.assertEqual(code, 0, shown.text())
        stored = json.loads(shown.text("out"))
        for key in ("run", "verdict", "capacity", "steps", "bar", "target", "stopped_because"):
            self.assertEqual(stored[key], report[key], key)

        code, shown = self.command("runs", "show", run_id[:15], "--store", self.store)
        self.assertEqual(code, 0, shown.text())
        words = " ".join(shown.text().split())  # The report wraps its lines.
        self.assertIn(" ".join(sentence.split()), words)
        self.assertIn("preflight: ok", words)


class PreflightBlocks(RigCase):
    def assert_files_named(self, run):
        """The store with the run's id, and the JSON report, both there."""
        run_id = self.report()["run"]["id"]
        words = " ".join(run.text("out").split())
        self.assertIn(f"written {self.store} (plimsoll runs show {run_id})", words)
        self.assertIn(f"written {self.json}", words)

    def blocked(self, url, **over):
        run = self.start_run(self.scenario(url, **over))
        self.assertEqual(run.wait_exit(), 4, run.text())
        self.assertIn("COULD NOT RUN: preflight blocks", run.text("out"))
        self.assertNotIn("step 1", run.text())
        self.assert_files_named(run)
        return run.text("out")

    def test_refusing_from_the_start(self):
        gateway = self.gateway("faults: [{kind: refuse, status: 429, retry_after: 2s}]")
        self.assertRegex(self.blocked(gateway.url), r"refuses calls \(HTTP 429\)")
        # The store keeps that it was tried, and why nothing came of it.
        code, listed = self.command("runs", "list", "--store", self.store)
        self.assertEqual(code, 0, listed.text())
        self.assertRegex(listed.text(), r"exit 4\n\s+preflight blocks: the gateway refuses")

    def test_nothing_listens(self):
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
        self.assertIn("cannot be reached", self.blocked(f"http://127.0.0.1:{port}/v1"))

    def test_gateway_dies(self):
        gateway = self.gateway()
        gateway.end()
        self.assertFalse(alive(gateway.pid))
        self.assertIn("cannot be reached", self.blocked(gateway.url))

    def test_gateway_speaks_html(self):
        gateway = self.gateway("html: true")
        self.assertIn("does not answer as a chat completion API", self.blocked(gateway.url))

    def test_context_limit_below_the_first_prompts(self):
        gateway = self.gateway("context_limit: 200")
        text = self.blocked(gateway.url)
        self.assertIn("context limit is below the corpus's first prompts", text)

    def test_peers_that_speak_no_http(self):
        for greeting in (b"SSH-2.0-OpenSSH_9.2\r\n", b"\x00" * 100, b""):
            peer = self.raw_peer(greeting)
            text = self.blocked(peer)
            self.assertNotIn("ended as ok", text)
        code, listed = self.command("runs", "list", "--store", self.store)
        self.assertEqual(listed.text().count("exit 4"), 3, "each is a run of its own")
        self.assertEqual(code, 0)

    def raw_peer(self, greeting):
        """The url of a peer that reads something, says `greeting` and hangs up."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def serve():
            while True:
                try:
                    peer, _ = listener.accept()
                except OSError:
                    return
                with peer:
                    peer.recv(1 << 16)
                    peer.sendall(greeting)
                    peer.shutdown(socket.SHUT_WR)
                    while peer.recv(1 << 16):  # A reset would race with the greeting.
                        pass

        threading.Thread(target=serve, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}/v1"

    def test_a_peer_that_never_answers(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
            self.assertIn("did not answer in time", self.blocked(url, idle_timeout="1s"))

    def test_model_that_is_not_served(self):
        gateway = self.gateway("model: another")
        text = " ".join(self.blocked(gateway.url).split())
        self.assertIn("the model 'plimsoll-rehearsal' is not served here (HTTP 404); served: "
                      "another; set target.model", text)
