"""Evals beside a load, over sockets: right ones hold, wrong ones fail their step, refused ones are
unanswered; and tool calls that break under load alone."""

import json
import pathlib
import shutil

from rig import RigCase

BASIC = pathlib.Path(__file__).resolve().parents[3] / "deploy" / "evals" / "basic.jsonl"
BAR = "{ttft_p50: 5s, errors: 10%, evals: 80%}"
# A corpus of small calls: many of them in a few seconds, and a fifth of all requests are evals.
EVALS = "evals: {set: basic, share: 20%}"


class EvalsCase(RigCase):
    def answering_gateway(self, more=""):
        shutil.copy(BASIC, self.folder / "answers.jsonl")
        return self.gateway(f"answers: answers.jsonl\n{more}")

    def evals_of(self, step):
        evals = step["evals"]
        self.assertIsNotNone(evals)
        for side in ("loaded", "unloaded"):
            counts = evals[side]
            self.assertEqual(sum(counts["outcomes"].values()), counts["asked"])
            self.assertEqual(counts["asked"] - counts["outcomes"]["unanswered"], counts["n"])
        self.assertEqual(
            sum(kind["loaded"]["asked"] for kind in evals["kinds"]), evals["loaded"]["asked"])
        return evals


class EvalsThatAreRight(EvalsCase):
    def test_hold_and_are_in_no_number_of_the_load(self):
        def scenario():
            url = self.answering_gateway().url
            page = url.removesuffix("/v1") + "/metrics"
            signals = f'signals: {{engines: [{{url: "{page}", kind: vllm}}], every: 200ms}}'
            return self.scenario(url, bar=BAR, more=f"{EVALS}\n{signals}")

        run = self.run_to_end(scenario)
        self.assertEqual(run.code, 0, run.text())
        report = self.report()
        self.assert_identities(report)
        step = report["steps"][0]
        # The server counts evals too, and is not taken to contradict the load's own count.
        self.assertNotIn("counts_disagree", [s["check"] for s in step["suspicions"]],
                         step["suspicions"])
        self.assertEqual(report["drain"]["state"], "back", report["drain"])
        evals = self.evals_of(step)
        self.assertEqual(evals["unloaded"]["n"], 72)
        self.assertEqual(evals["unloaded"]["pass_share"], 1.0, evals)
        self.assertEqual(evals["loaded"]["pass_share"], 1.0, evals)
        self.assertGreater(evals["loaded"]["n"], 5)
        self.assertIn("evals asked, as agents count = records of evals stored",
                      [identity["name"] for identity in step["identities"]])
        self.assertIn("evals without load: 72 of 72 right", run.text())
        self.assertRegex(" ".join(run.text("out").split()), r"evals +(pass|too close): 100\.0% of")
        self.check_exports(report, evals)

    def check_exports(self, report, evals):
        run_id = report["run"]["id"]
        code, out = self.command(
            "runs", "export", run_id, "--store", self.store, "--evals", "jsonl")
        self.assertEqual(code, 0, out.text())
        rows = [json.loads(line) for line in out.text("out").splitlines()]
        self.assertEqual(sum(row["released_in"] == "mini_run" for row in rows), 72)
        measured = [row for row in rows if row["released_in"] == "measured"]
        self.assertEqual(len(measured), evals["loaded"]["asked"])
        self.assertEqual({row["outcome"] for row in measured}, {"pass"})
        code, out = self.command(
            "runs", "export", run_id, "--store", self.store, "--steps", "jsonl")
        row = json.loads(out.text("out").splitlines()[0])
        self.assertEqual(row["evals_asked"], evals["loaded"]["asked"])
        self.assertEqual(row["evals_pass_share"], 1)
        code, out = self.command(
            "runs", "export", run_id, "--store", self.store, "--records", "jsonl")
        records = [json.loads(line) for line in out.text("out").splitlines()]
        self.assertEqual(
            sum(row["released_in"] == "measured" for row in records), report["steps"][0]["attempts"])


class EvalsThatBreakUnderLoad(EvalsCase):
    def test_fail_the_step_that_they_break_at_and_not_the_one_below(self):
        run = self.run_to_end(lambda: self.scenario(
            self.answering_gateway("faults: [{kind: wrong_answers, in_flight_min: 9}]").url,
            sessions=[2, 14], target=14, bar=BAR, more=EVALS))
        self.assertEqual(run.code, 1, run.text())
        report = self.report()
        self.assert_identities(report)
        below, broken = report["steps"]
        self.assertEqual(below["verdict"], "pass", below["reasons"])
        self.assertEqual(broken["verdict"], "fail", broken["reasons"])
        self.assertEqual(self.evals_of(broken)["verdict"], "fail")
        self.assertTrue(broken["reasons"][0].startswith("evals: "), broken["reasons"])
        self.assertIn("below 80.0%", broken["reasons"][0])
        for part in broken["parts"]:
            self.assertNotEqual(part["verdict"], "fail", part)
        self.assertEqual(self.evals_of(broken)["unloaded"]["pass_share"], 1.0)
        self.assertRegex(report["stopped_because"], r"14 sessions miss .*: evals")


class ToolCallsThatBreakUnderLoad(EvalsCase):
    def test_fail_their_part_at_sixteen_sessions_and_not_below(self):
        def scenario():
            gateway = self.gateway(
                "tool_call_probability: 1\n"
                "faults: [{kind: malformed_tool_calls, in_flight_min: 12}]")
            path = self.scenario(
                gateway.url, sessions=[4, 16], target=16, measure="8s",
                bar="{ttft_p50: 5s, errors: 10%, tool_calls: 20%}")
            path.write_text(path.read_text().replace("  model:", "  tools: on\n  model:"))
            return path

        run = self.run_to_end(scenario)
        self.assertEqual(run.code, 1, run.text())
        below, broken = self.report()["steps"]
        self.assertEqual(self.part(below, "tool calls")["verdict"], "pass", below["reasons"])
        part = self.part(broken, "tool calls")
        self.assertEqual(part["verdict"], "fail", part)
        self.assertEqual([p["metric"] for p in broken["parts"] if p["verdict"] == "fail"],
                         ["tool calls"])
        faults = broken["answers"]["tool_call_faults"]
        self.assertEqual(faults["malformed_json"], broken["answers"]["tool_calls_invalid"], faults)
        self.assertGreater(faults["malformed_json"], 0)
        self.assertEqual(sum(below["answers"]["tool_call_faults"].values()),
                         below["answers"]["tool_calls_invalid"])
        self.assertIn("malformed_json", run.text("out"))


class EvalsThatAreRefused(EvalsCase):
    def test_are_unanswered_and_not_wrong(self):
        def script(number, seen):
            refused = b'"temperature":0' in seen["body"]
            return (429, {}) if refused else (200, {})

        run = self.run_to_end(lambda: self.scenario(
            self.answers(script).url, bar="{ttft_p50: 5s, errors: 10%, evals: 80%}", more=EVALS))
        self.assertEqual(run.code, 0, run.text())
        step = self.report()["steps"][0]
        evals = self.evals_of(step)
        self.assertGreater(evals["loaded"]["asked"], 0)
        self.assertEqual(evals["loaded"]["n"], 0)
        self.assertIsNone(evals["loaded"]["pass_share"])
        self.assertEqual(evals["verdict"], "no data")
        self.assertEqual(step["verdict"], "pass")
        self.assertEqual(step["failed"], 0, "no call of the load was refused")
        self.assertIn("evals without load: none was answered", run.text())


class EvalsInTheScenario(EvalsCase):
    def test_check_says_what_they_can_show_and_reads_the_set(self):
        code, out = self.command("check", self.scenario("http://127.0.0.1:1/v1", bar=BAR, more=EVALS))
        self.assertEqual(code, 0, out.text())
        text = " ".join(out.text("out").split())
        self.assertIn("basic: 72 cases of", text)
        self.assertIn("20% of all requests", text)
        self.assertRegex(text, r"4 sessions: .*answers")
        self.write("mine.jsonl", '{"id":"a","kind":"k","prompt":"1+1?","expect":{"number":2},'
                                 '"reference":"3"}\n')
        code, out = self.command("check", self.scenario(
            "http://127.0.0.1:1/v1", bar=BAR, more="evals: {set: mine.jsonl}"))
        self.assertEqual(code, 64, out.text())
        self.assertIn("its reference does not pass its own check", out.text())
        code, out = self.command("check", self.scenario(
            "http://127.0.0.1:1/v1", bar=BAR, more="evals: {set: none.jsonl}"))
        self.assertEqual(code, 64, out.text())
        self.assertIn("none.jsonl", out.text())
