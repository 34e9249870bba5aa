"""Rules of the kill switch over real pages, and whether a hang-up is proved to reach the engine."""

import http.server
import re
import threading

from rig import RigCase
from server_rig import GATEWAY as SERVED
from server_rig import SCENARIO as JUDGED
from server_rig import DEFAULTS

PAGE = """\
vllm:num_requests_running{{model_name="m"}} 3
vllm:num_requests_waiting{{model_name="m"}} {waiting}
vllm:kv_cache_usage_perc{{model_name="m"}} 0.2
"""


class Production:
    """A page of production's engine whose queue the test sets."""

    def __init__(self, case):
        self.waiting = 0
        page = self

        class Answer(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = PAGE.format(waiting=page.waiting).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self.url = f"http://127.0.0.1:{self.server.server_port}/metrics"
        thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        case.addCleanup(self.server.server_close)
        case.addCleanup(self.server.shutdown)


class ServedCase(RigCase):
    def served(self, faults="", more="", target="", **over):
        """Starts a gateway with pages, and a scenario that reads them: (gateway, scenario)."""
        values = {**DEFAULTS, "name": "served", "faults": faults, **over}
        config = self.write("gateway.yaml", SERVED.format(**values))
        gateway = self.start("plimsoll-gateway", "--config", config)
        gateway.url = gateway.wait_line(r"listening on (http://\S+)")[1]
        root = gateway.url.removesuffix("/v1")
        text = JUDGED.format(
            root=root,
            gateway_pages=f'gateway: {{url: "{root}/stats/prometheus", kind: envoy, name: front}}',
            engine_pages=", ".join(
                f'{{url: "{root}/metrics/engine/{n}", kind: vllm, name: engine-{n}}}'
                for n in range(2)),
            **values)
        text = text.replace("  model: plimsoll-rehearsal\n",
                            f"  model: plimsoll-rehearsal\n{target}", 1)
        return gateway, self.write("scenario.yaml", text + more)

    def findings(self, pattern):
        found = [one for one in self.report()["preflight"]["findings"]
                 if re.search(pattern, one["text"])]
        self.assertEqual(len(found), 1, self.report()["preflight"])
        return found[0]


class ProductionQueue(ServedCase):
    def test_trips_and_names_it(self):
        production = Production(self)
        production.waiting = 2
        gateway, scenario = self.served(measure="60s", more=f"""
kill_switch:
  waiting: 100000
  kv_fill: 99%
  production:
    engines: [{{url: "{production.url}", kind: vllm, name: prod-0}}]
    waiting: {{over_before: 3x, over: 5, for: 1s}}
""")
        code, check = self.command("check", scenario)
        self.assertEqual(code, 0, check.text())
        words = " ".join(check.text().split())
        self.assertIn("waiting of production over 3x the level before the run, and over 5, for 1s",
                      words)
        self.assertIn("watched on prod-0", words)
        run = self.start_run(scenario)
        run.wait_line(r"measuring, ")
        production.waiting = 6  # Three times two, and no more.
        self.wait_answered(gateway, 40)
        self.assertNotIn("kill switch: prod-0", run.text())
        production.waiting = 40
        run.wait_line(r"kill switch: prod-0 of production: waiting 40, over 6 \(2 before the run\)")
        self.assertEqual(run.wait_exit(), 5, run.text())
        self.assertIn("STOPPED: kill switch: prod-0 of production", run.text("out"))
        # Never part of the verdict.
        step = self.report()["steps"][0]
        sources = {one["source"] for one in step["server"]["figures"]} if step["server"] else set()
        self.assertNotIn("production", sources)

    def test_needs_pages_to_look_at(self):
        production = Production(self)
        _, scenario = self.served(more=f"""
kill_switch:
  open_requests: 500
  production:
    engines: [{{url: "{production.url}", kind: vllm, name: prod-0}}]
    cancellations: 5/s
""")
        code, check = self.command("check", scenario)
        self.assertEqual(code, 0, check.text())
        words = " ".join(check.text().split())
        self.assertIn("callers' open requests of the candidate over 500, for 10s: watched on front",
                      words)
        self.assertRegex(words, "cancellations of production over 5/s, for 10s: cannot be read on "
                                "prod-0 .*cannot trip there")


class Cancellation(ServedCase):
    def test_a_healthy_gateway_is_proved(self):
        _, scenario = self.served(measure="3s")
        run = self.start_run(scenario)
        run.wait_exit()
        found = self.findings("cancellation")
        self.assertEqual(found["level"], "ok", found)
        self.assertRegex(found["text"], r"^cancellation reaches the engine: running fell from 1 to "
                                        r"0 within \d\.\d s$")
        # All of preflight's list is there, each with its level.
        for what in ("disk: ", "ports: ", "agents: ", "clocks: ", "usage: ", "streaming: ", "cap: ",
                     "output length: ", "calibration: ", "model: "):
            self.findings("^" + what)

    def test_a_hang_up_that_does_not_reach_it_blocks(self):
        _, scenario = self.served(faults="{kind: orphan}")
        run = self.start_run(scenario)
        self.assertEqual(run.wait_exit(), 4, run.text())
        words = " ".join(run.text("out").split())
        self.assertIn("preflight blocks: cancellation does not reach the engine: running", words)
        self.assertIn("accept it with target: {cancellation: may_be_lost}", words)
        self.assertEqual(self.findings("cancellation")["level"], "blocking")

    def test_unless_the_scenario_accepts_it(self):
        _, scenario = self.served(faults="{kind: orphan}", measure="3s",
                                  target="  cancellation: may_be_lost\n")
        run = self.start_run(scenario)
        self.assertIn(run.wait_exit(), (0, 1, 2, 3), run.text())
        self.assertEqual(self.findings("cancellation")["level"], "warning")

    def test_gauges_that_are_not_written_again_are_no_orphans(self):
        _, scenario = self.served(faults="{kind: gauges_frozen}", measure="3s")
        run = self.start_run(scenario)
        run.wait_exit()
        found = self.findings("cancellation")
        self.assertEqual(found["level"], "ok", found)
        self.assertIn("once another call made it write its gauges again", found["text"])

    def test_without_pages_it_is_not_proved(self):
        gateway = self.gateway()
        run = self.start_run(self.scenario(gateway.url, measure="2s"))
        run.wait_exit()
        found = self.findings("cancellation")
        self.assertEqual(found["level"], "warning")
        self.assertIn("name them under signals.engines", found["text"])
