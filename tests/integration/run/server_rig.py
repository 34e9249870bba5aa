"""Runs that are judged from servers' pages: a gateway of its own each, several side by side.

The engine takes one prefill at a time, nearly without noise, so that a few seconds hold the hundred
calls that decide a P50, and their TTFT is known: lanes of one copy times its prefill.
"""

import json

from rig import RigCase, machine_was_busy

GATEWAY = """\
listen: {{host: 127.0.0.1, port: 0}}
metrics: [vllm, envoy]
stats_flush: 200ms
retries: {retries}
engine: {{copies: {copies}, prefill_tokens_per_s: {prefill_speed}, prefill_base: {prefill},
         decode_tokens_per_s: 200, decode_slowdown: 0, prefix_cache: {prefix_cache}}}
noise: {{call_sigma: 0.1, session_sigma: 0.1, drift_sigma: 0, cold_share: 0}}
faults: [{faults}]
"""

SCENARIO = """\
name: {name}
target:
  url: {root}/v1
  model: plimsoll-rehearsal
  affinity: {{play: X-Session-ID}}
  idle_timeout: 20s
  call_deadline: {call_deadline}
corpus: {{synthetic: agentx, seed: 1, heavy: {heavy}, light: 8, scale: 40}}
mix: {mix}
sweep: {{sessions: {sessions}, target: {target}, warm_up: {warm_up}, measure: {measure}, block: 1s,
        drain_limit: {drain_limit}, prime_limit: {prime_limit}, extend: off, fail_early: off}}
bar: {bar}
fleet: {{local: 1}}
replay: {{output: {{tokens: 10}}}}
failure: {{back_off_min: {back_off}, back_off_max: 200ms}}
signals:
  {gateway_pages}
  engines: [{engine_pages}]
  every: 200ms
  judge: {judge}
  kv_full: {{fill: 95%, for: 3s}}
  drain: {{within: 4s}}
seed: 7
"""

DEFAULTS = {
    "judge": "both",
    "faults": "",
    "retries": 0,
    "copies": 2,
    "prefill": "70ms",
    "prefill_speed": 200000,
    "prefix_cache": "true",
    "back_off": "100ms",
    "heavy": 0,
    "mix": "{light: 100%}",
    "sessions": [6],
    "target": 6,
    "warm_up": "1s",
    "measure": "5s",
    "drain_limit": "4s",
    "call_deadline": "30s",
    "prime_limit": "1s",
    "bar": "{ttft_p50: 5s, interactivity_p50: 10 tok/s, errors: 10%}",
    "engines": (0, 1),
    "front": True,
}
# All runs of a test wait for each other's processor time.
RUN_S = 150


class ServerRun:
    """A gateway and a run against it, in a folder of their own."""

    def __init__(self, case, name, over):
        self.case = case
        self.name = name
        self.values = {**DEFAULTS, **over, "name": name}
        self.folder = case.folder / name
        self.folder.mkdir()

    def start(self):
        config = self.folder / "gateway.yaml"
        config.write_text(GATEWAY.format(**self.values))
        gateway = self.case.start("plimsoll-gateway", "--config", config)
        root = gateway.wait_line(r"listening on (http://\S+)/v1")[1]
        self.scenario = self.folder / "scenario.yaml"
        self.scenario.write_text(SCENARIO.format(
            root=root,
            gateway_pages=f'gateway: {{url: "{root}/stats/prometheus", kind: envoy, name: front}}'
            if self.values["front"] else "",
            engine_pages=", ".join(
                f'{{url: "{root}/metrics/engine/{n}", kind: vllm, name: engine-{n}}}'
                for n in self.values["engines"]),
            **self.values))
        self.process = self.case.start(
            "plimsoll", "run", self.scenario, "--store", self.folder / "store", "--json",
            self.folder / "report.json")
        return gateway

    def wait(self):
        self.code = self.process.wait_exit(RUN_S)
        self.words = " ".join(self.process.text().split())  # The report wraps its lines.
        path = self.folder / "report.json"
        self.report = json.loads(path.read_text()) if path.exists() else None

    @property
    def step(self):
        """The only step."""
        self.case.assertEqual(len(self.report["steps"]), 1, self.process.text())
        return self.report["steps"][0]


class ServerCase(RigCase):
    def play(self, **cases):
        """Runs them side by side to their ends; those that this machine was too busy for again.
        Returns them in the order of their names here."""
        runs = [ServerRun(self, name, over) for name, over in cases.items()]
        again = runs
        for _ in range(3):
            gateways = [run.start() for run in again]
            for run in again:
                run.wait()
            for gateway in gateways:
                gateway.end()
            again = [run for run in again if machine_was_busy(run.process)]
            if not again:
                break
        return runs

    def assert_exit(self, run, code):
        self.assertEqual(run.code, code, run.process.text())

    def says(self, run, *texts):
        """The report that a user reads has each of the texts."""
        for text in texts:
            self.assertIn(text, run.words, run.process.text())

    def by(self, run, source, key, step=-1):
        """What a source alone says of a part of the bar: (verdict, reason)."""
        for part in run.report["steps"][step]["server"]["parts"]:
            if (part["source"], part["key"]) == (source, key):
                return part["verdict"], part["reason"]
        raise AssertionError(f"{source} has no {key}: {run.process.text()}")

    def assert_by(self, run, source, key, verdict, pattern=".", step=-1):
        said, reason = self.by(run, source, key, step)
        self.assertEqual(said, verdict, f"{run.name}: {source} of {key}: {reason}")
        self.assertRegex(reason, pattern)

    def figure(self, run, source, signal, step=-1):
        for one in run.report["steps"][step]["server"]["figures"]:
            if (one["source"], one["signal"]) == (source, signal):
                return one
        raise AssertionError(f"{source} shows no {signal}: {run.process.text()}")

    def lacks(self, run, step=-1):
        """What was wanted and not got: {(source, target): {signal: kind of missing}}."""
        missing = {}
        for one in run.report["steps"][step]["server"]["wanted_and_not_got"]:
            missing.setdefault((one["source"], one["target"]), {})[one["signal"]] = one["missing"]
        return missing
