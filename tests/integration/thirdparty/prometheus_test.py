"""Debian's Prometheus, filled with samples of a known day: `plimsoll peak` finds its busiest minute."""

import subprocess
import time
import unittest

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


if __name__ == "__main__":
    unittest.main()
