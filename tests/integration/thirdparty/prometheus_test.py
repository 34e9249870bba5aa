"""Debian's Prometheus: filled with samples of a known day, of which `plimsoll peak` finds the busiest
minute; and reading the gateway, as a run's source of what the engine says of itself."""

import json
import re
import subprocess
import time
import unittest
import urllib.request

import outsider

# Requests in flight of two pods, a sample every 15 s: quiet, but for ten minutes of them 20 together
# and one minute in those at which the first alone has 30 and 6 more wait.
STEP_S = 15
QUIET, BUSY = 3, 10
PEAK_RUNNING, PEAK_WAITING = 30, 6


class Prometheus(outsider.OutsiderCase):
    @classmethod
    def setUpClass(cls):
        cls.server = outsider.program("prometheus")
        cls.tool = outsider.program("promtool")
        if not cls.server or not cls.tool:
            raise unittest.SkipTest("prometheus is not installed")

    def setUp(self):
        super().setUp()
        self.begin = int(time.time()) // 60 * 60 - 3 * 3600
        self.end = self.begin + 3600
        self.busiest = self.begin + 1800
        self.fill()
        config = self.write("prometheus.yml", "global: {scrape_interval: 15s}\n")

        def argv(port):
            return (self.server, f"--config.file={config}", f"--storage.tsdb.path={self.folder}/data",
                    f"--web.listen-address=127.0.0.1:{port}")

        self.url = self.outsider(argv).url.removesuffix("/v1")

    def fill(self):
        """Blocks as Prometheus itself would have written them."""
        lines = []
        for name, value in (("vllm:num_requests_running", self.running),
                            ("vllm:num_requests_waiting", self.waiting)):
            lines.append(f"# TYPE {name} gauge")
            for pod in (0, 1):
                lines += [f'{name}{{model_name="m",pod="{pod}"}} {value(pod, at)} {at}'
                          for at in range(self.begin, self.end, STEP_S)]
        samples = self.write("samples.txt", "\n".join(lines) + "\n# EOF\n")
        subprocess.run([self.tool, "tsdb", "create-blocks-from", "openmetrics", samples,
                        f"{self.folder}/data"], check=True, stdout=subprocess.DEVNULL)
        for path in (self.folder / "data").rglob("*"):
            path.chmod(0o777 if path.is_dir() else 0o666)
        (self.folder / "data").chmod(0o777)

    def in_peak(self, at):
        return self.busiest <= at < self.busiest + 60

    def running(self, pod, at):
        if self.in_peak(at) and pod == 0:
            return PEAK_RUNNING
        return BUSY if abs(at - self.busiest) < 300 else QUIET

    def waiting(self, pod, at):
        return PEAK_WAITING if self.in_peak(at) and pod == 1 else 0

    def peak(self, *flags):
        run = self.start("plimsoll", "peak", "--prometheus", self.url, "--from", self.begin,
                         "--to", self.end - 1, "--step", "15s", *flags)
        run.wait_exit()
        return run

    def test_the_busiest_minute_over_all_pods(self):
        run = self.peak()
        self.assertEqual(run.popen.returncode, 0, run.text())
        when = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(self.busiest))
        wanted = PEAK_RUNNING + BUSY + PEAK_WAITING
        self.assertIn(f"{wanted} requests in flight, mean of 1m from {when}", run.text())
        self.assertNotIn("samples missing", run.text())

    def test_one_pod_by_a_query_of_ones_own(self):
        run = self.peak("--query", 'sum(vllm:num_requests_running{pod="1"})')
        self.assertEqual(run.popen.returncode, 0, run.text())
        self.assertIn(f"{BUSY} requests in flight", run.text())

    def test_what_prometheus_does_not_have_and_does_not_understand(self):
        other = self.peak("--kind", "sglang")
        self.assertEqual(other.popen.returncode, 3, other.text())
        self.assertIn("finds nothing", other.text())
        wrong = self.peak("--query", "sum(")
        self.assertEqual(wrong.popen.returncode, 64, wrong.text())
        self.assertIn("unclosed left parenthesis", wrong.text())


class PrometheusAsASource(outsider.OutsiderCase):
    @classmethod
    def setUpClass(cls):
        cls.server = outsider.program("prometheus")
        if not cls.server:
            raise unittest.SkipTest("prometheus is not installed")

    def setUp(self):
        super().setUp()
        self.engine = self.gateway()
        self.address = self.engine.url.removesuffix("/v1").removeprefix("http://")
        config = self.write("prometheus.yml", f"""
global: {{scrape_interval: 1s}}
scrape_configs:
- job_name: vllm
  static_configs: [{{targets: ["{self.address}"]}}]
- job_name: nobody
  static_configs: [{{targets: ["127.0.0.1:1"]}}]
""")

        def argv(port):
            return (self.server, f"--config.file={config}", f"--storage.tsdb.path={self.folder}/data",
                    f"--web.listen-address=127.0.0.1:{port}")

        self.prometheus = self.outsider(argv)
        self.url = self.prometheus.url.removesuffix("/v1")
        outsider.wait_until(lambda: self.queried('up{job="vllm"}') == ["1"], "a first scrape")

    def queried(self, query):
        escaped = urllib.request.quote(query)
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/query?query={escaped}") as answer:
                result = json.loads(answer.read())["data"]["result"]
        except OSError:
            return []
        return [series["value"][1] for series in result]

    def test_a_run_reads_the_pages_that_it_read(self):
        signals = (f"signals: {{prometheus: {{url: \"{self.url}\", every: 1s, "
                   "engines: {kind: vllm, where: {job: vllm}}}}")
        run = self.start_run(self.scenario(self.engine.url, more=signals))
        # A machine that is too busy for a verdict reads pages all the same.
        self.assertIn(run.wait_exit(), (0, 3), run.text())
        self.assertRegex(run.text(), r"signals of engines \(kind vllm\): 1 page is read: "
                                     + re.escape(self.address))
        run_id = self.report()["run"]["id"]
        code, out = self.command("runs", "export", run_id, "--pages", "jsonl", "--store", self.store)
        self.assertEqual(code, 0, out.text())
        pages = [json.loads(line) for line in out.text("out").splitlines()]
        self.assertEqual({page["target"] for page in pages}, {self.address})
        self.assertGreater(len(pages), 5)
        finished = [sum(map(float, re.findall(r"^vllm:request_success_total\S* (\S+)$",
                                              page["body"], re.M))) for page in pages]
        self.assertEqual(finished, sorted(finished))
        self.assertGreater(finished[-1], finished[0])
        # Its own instants, about a second apart, not ours.
        gaps = [b["wall_ns"] - a["wall_ns"] for a, b in zip(pages, pages[1:])]
        self.assertGreater(min(gaps), 0)
        # What it has now for the last instant that we know is what we know.
        at = pages[-1]["wall_ns"] / 1e9
        stored = self.queried(f'sum(vllm:request_success_total{{job="vllm"}} @ {at:.3f})')
        self.assertEqual([float(value) for value in stored], [finished[-1]])

    def test_check_by_its_address_alone(self):
        signals = f"signals: {{prometheus: \"{self.url}\"}}"
        code, checked = self.command("check", self.scenario(self.engine.url, more=signals))
        self.assertEqual(code, 0, checked.text())
        said = " ".join(checked.text("out").split())
        self.assertIn("not at a block's edges", said)
        self.assertIn(f"signals of engines (kind vllm): 1 page is read: {self.address}", said)

    def test_what_is_not_there_is_said(self):
        signals = (f"signals: {{judge: server, prometheus: {{url: \"{self.url}\", "
                   "engines: {kind: sglang, where: {job: other}}}}")
        run = self.start_run(self.scenario(self.engine.url, more=signals))
        self.assertEqual(run.wait_exit(), 4, run.text())
        self.assertIn("has no page of kind sglang", " ".join(run.text().split()))


if __name__ == "__main__":
    unittest.main()
