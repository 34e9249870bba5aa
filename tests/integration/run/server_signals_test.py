"""What servers say of themselves, read beside the load: over real sockets, from the gateway's page."""

import json
import re
import urllib.request

from rig import RigCase

DEAD = "http://127.0.0.1:1/metrics"


class ServerSignals(RigCase):
    def page_of(self, gateway):
        return gateway.url.removesuffix("/v1") + "/metrics"

    def pages(self, run_id):
        code, out = self.command("runs", "export", run_id, "--pages", "jsonl", "--store", self.store)
        self.assertEqual(code, 0, out.text())
        return [json.loads(line) for line in out.text("out").splitlines()]

    def finished(self, page):
        counters = re.findall(r"^vllm:request_success_total\S* (\S+)$", page, re.M)
        return sum(map(float, counters))

    def test_pages_are_read_kept_and_written_out_again(self):
        gateway = self.gateway()
        signals = (f"signals: {{engines: [{{url: \"{self.page_of(gateway)}\", kind: vllm}}], "
                   f"production: [{{url: \"{DEAD}\", kind: envoy}}], every: 200ms}}")

        def scenario():
            return self.scenario(gateway.url, more=signals,
                                 bar="{ttft_p50: 5s, interactivity_p50: 1 tok/s, errors: 10%}")

        code, checked = self.command("check", scenario())
        self.assertEqual(code, 0, checked.text())
        said = " ".join(checked.text("out").split())
        self.assertIn("engines: http://127.0.0.1:", said)
        self.assertIn("where servers cannot say or decide, the client's verdict stands", said)
        self.assertIn("signals of engines (kind vllm): 1 page is read", said)
        self.assertIn("127.0.0.1:1 of production (kind envoy) cannot be read", said)
        self.assertRegex(said, r"buckets TTFT P50 by engines \(kind vllm\): .*is an edge")
        code, offline = self.command("check", scenario(), "--offline")
        self.assertEqual(code, 0, offline.text())
        self.assertNotIn("what the servers say now", offline.text())

        run = self.start_run(scenario())
        # A machine that is too busy for a verdict reads pages all the same.
        self.assertIn(run.wait_exit(), (0, 3), run.text())
        self.assertRegex(run.text(), r"signals of engines \(kind vllm\): 1 page is read")
        self.assertRegex(run.text(), r"warning: the page of 127.0.0.1:1 of production")
        self.assertRegex(run.text(), r"\d+ pages of metrics kept")
        pages = self.pages(self.report()["run"]["id"])
        engine = [page for page in pages if page["source"] == "engines"]
        self.assertGreater(len(engine), 20)
        self.assertEqual({page["error"] for page in engine}, {None})
        self.assertEqual({page["http_status"] for page in engine}, {200})
        instants = [page["wall_ns"] for page in engine]
        self.assertEqual(instants, sorted(instants))
        # The last one was read when all had drained: it is as the page is now.
        with urllib.request.urlopen(self.page_of(gateway)) as page:
            now = page.read().decode()
        self.assertGreater(self.finished(now), 50)
        self.assertEqual(self.finished(engine[-1]["body"]), self.finished(now))
        self.assertLess(self.finished(engine[0]["body"]), self.finished(now))
        self.assertRegex(engine[-1]["body"], r"(?m)^vllm:num_requests_running\S* 0(\.0)?$")
        production = [page for page in pages if page["source"] == "production"]
        self.assertTrue(production and all(page["error"] for page in production))
        self.assertLess(len(production), len(engine) / 2, "a target that fails is left alone")

    def test_a_server_that_must_judge_and_cannot_blocks_the_run(self):
        gateway = self.gateway()
        signals = f"signals: {{engines: [{{url: \"{DEAD}\", kind: vllm}}], judge: server}}"
        run = self.start_run(self.scenario(gateway.url, more=signals))
        self.assertEqual(run.wait_exit(), 4, run.text())
        self.assertIn("judge: server needs it", " ".join(run.text().split()))

    def test_a_part_that_no_server_counts_blocks_before_the_window_is_spent(self):
        gateway = self.gateway()
        engines = f"engines: [{{url: \"{self.page_of(gateway)}\", kind: vllm}}]"
        bar = "{ttft_p50: 5s, end_to_end_interactivity_p50: 1 tok/s}"

        def scenario(judge):
            return self.scenario(gateway.url, more=f"signals: {{{engines}, judge: {judge}}}", bar=bar)

        # `check` ends as the run would.
        code, checked = self.command("check", scenario("server"))
        self.assertEqual(code, 4, checked.text())
        self.assertRegex(" ".join(checked.text().split()), "blocks .*use judge: both")
        code, offline = self.command("check", scenario("server"), "--offline")
        self.assertEqual(code, 0, offline.text())
        code, both = self.command("check", scenario("both"))
        self.assertEqual(code, 0, both.text())
        run = self.start_run(scenario("server"))
        self.assertEqual(run.wait_exit(), 4, run.text())
        self.assertIn("clients alone can judge it: use judge: both", " ".join(run.text().split()))

    def test_a_page_that_is_none_blocks_with_what_it_is(self):
        gateway = self.gateway()
        models = gateway.url + "/models"
        signals = f"signals: {{engines: [{{url: \"{models}\", kind: vllm}}], judge: server}}"
        run = self.start_run(self.scenario(gateway.url, more=signals))
        self.assertEqual(run.wait_exit(), 4, run.text())
        self.assertIn("JSON", run.text())

    def test_a_mapping_of_ones_own_and_a_token(self):
        gateway = self.gateway()
        page = self.page_of(gateway)
        signals = (f"signals: {{engines: [{{url: \"{page}\", mapping: mine.yaml, "
                   "bearer_env: NOT_SET_HERE}]}")
        scenario = self.scenario(gateway.url, more=signals)
        code, missing = self.command("check", scenario)
        self.assertEqual(code, 64, missing.text())
        self.assertIn("mine.yaml", missing.text())
        self.write("mine.yaml", "kind: mine\nsignals: {running: {gauge: [x], unitt: s}}\n")
        code, wrong = self.command("check", scenario)
        self.assertEqual(code, 64, wrong.text())
        self.assertIn("mine.yaml:2: signals.running.unitt", wrong.text())
        self.write("mine.yaml", "kind: mine\nsignals:\n"
                                "  running: {gauge: [\"vllm:num_requests_running\"]}\n")
        code, checked = self.command("check", scenario)
        self.assertEqual(code, 0, checked.text())
        self.assertIn("set NOT_SET_HERE in the environment", " ".join(checked.text().split()))
        run = self.start_run(scenario)
        self.assertEqual(run.wait_exit(), 4, run.text())
        self.assertIn("NOT_SET_HERE", run.text())
