"""A bar relative to stored runs: read by check and run, kept with the run, told in every report."""

import json

from rig import RigCase


class BaselineBar(RigCase):
    def test_a_stored_run_gives_the_limits(self):
        gateway = self.gateway()
        base = self.run_to_end(lambda: self.scenario(gateway.url, sessions=[4]))
        self.assertEqual(base.code, 0, base.text())
        baseline = self.report()
        run_id = baseline["run"]["id"]
        step = baseline["steps"][0]
        bar = (f"{{from_baseline: {{runs: [{run_id}], sessions: 4}}, ttft_p90: +900%, "
               "interactivity_p90: -90%, heavy: {goodput_p50: +900%}, errors: 50%}")

        relative = self.scenario(gateway.url, sessions=[4], bar=bar)
        code, checked = self.command("check", relative, "--store", self.store)
        self.assertEqual(code, 0, checked.text())
        self.assertIn("how windows differ is unknown", " ".join(checked.text("out").split()))

        run = self.run_to_end(lambda: self.scenario(gateway.url, sessions=[4], bar=bar))
        report = self.report()
        ttft = report["bar"][0]
        self.assertEqual(ttft["key"], "ttft_p90")
        self.assertAlmostEqual(ttft["origin"]["baseline"], step["ttft"]["p90_s"]["value"])
        self.assertAlmostEqual(ttft["limit"], 10 * step["ttft"]["p90_s"]["value"])
        self.assertEqual(ttft["origin"]["runs"], [run_id])
        self.assertIsNone(ttft["origin"]["low_95"])
        self.assertEqual(report["bar"][2]["key"], "heavy.goodput_p50")
        self.assertEqual(report["steps"][0]["parts"][0]["origin"], ttft["origin"])
        self.assertIn("one baseline run", run.text("out"))

        # The store has the numbers too, which the scenario's text does not.
        shown_id = report["run"]["id"]
        code, shown = self.command("runs", "show", shown_id, "--store", self.store, "--json")
        self.assertEqual(code, 0, shown.text())
        self.assertEqual(json.loads(shown.text("out"))["bar"], report["bar"])
        code, parts = self.command(
            "runs", "export", shown_id, "--parts", "jsonl", "--store", self.store)
        self.assertEqual(code, 0, parts.text())
        rows = [json.loads(line) for line in parts.text("out").splitlines()]
        self.assertEqual([row["part"] for row in rows],
                         ["ttft_p90", "interactivity_p90", "heavy.goodput_p50", "errors"])

    def test_a_run_that_is_not_there_is_said(self):
        bar = "{from_baseline: {runs: [nobody], sessions: 4}, ttft_p90: +10%}"
        scenario = self.scenario("http://127.0.0.1:1/v1", sessions=[4], bar=bar)
        run = self.start_run(scenario)
        self.assertEqual(run.wait_exit(), 64, run.text())
        self.assertIn("baseline run 'nobody'", run.text())
        code, checked = self.command("check", scenario, "--store", self.store)
        self.assertEqual(code, 64, checked.text())
