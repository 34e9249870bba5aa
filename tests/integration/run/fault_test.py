"""Faults of the deployment in the middle of a step: what they make of its verdict."""

import trace_files

from rig import RigCase, wait_until

# Measured time runs from about 3.5 s after the preflight's call, which is the first request, to
# 13.5 s: a fault from 8 s on strikes in its middle, on a slow machine in its beginning.
MIDDLE = "at: 8s, from: first_request"


class FaultCase(RigCase):
    def fails_on(self, fault, **over):
        """Runs into the fault; returns the failed step."""
        run = self.run_to_end(lambda: self.scenario(
            self.gateway(f"faults: [{fault}]").url, sessions=[4, 6], measure="10s",
            errors="2%", **over))
        self.assertEqual(run.code, 1, run.text())
        report = self.report()
        self.assertEqual(len(report["steps"]), 1, "a miss ends the sweep")
        step = report["steps"][0]
        self.assertEqual(step["verdict"], "fail")
        self.assertFalse(step["void"], step["reasons"])
        self.assert_identities(report)
        self.assertEqual(self.part(step, "errors")["verdict"], "fail")
        self.assertGreater(step["failed"], 0)
        self.assertGreater(step["outcomes"]["ok"], 0, "the fault struck in the middle")
        self.assertRegex(run.text("out"),
                         r"\AFAIL +4 sessions miss \([0-9.]+ requests in flight\): errors")
        self.report_text = run.text("out")
        self.assert_latency_follows_sent_share(step)
        return step

    def assert_latency_follows_sent_share(self, step):
        """Below 95% of the lanes' time sent no latency is judged, whatever it shows."""
        for metric in ("TTFT", "interactivity"):
            verdict = self.part(step, metric)["verdict"]
            if step["sent_share"] < 0.95:
                self.assertEqual(verdict, "no data", metric)


class SilenceFailsTheStep(FaultCase):
    def assert_latency_unjudged(self, step):
        self.assertLess(step["sent_share"], 0.95)
        for metric in ("TTFT", "interactivity"):
            self.assertEqual(self.part(step, metric)["verdict"], "no data")

    def test_refusals(self):
        step = self.fails_on(f"{{kind: refuse, status: 429, retry_after: 2s, {MIDDLE}}}")
        self.assertGreater(step["outcomes"]["refused"], 0)
        self.assertGreater(step["lane_time_share"]["idle_refused"], 0.05)
        self.assert_latency_unjudged(step)
        # Four lanes that wait two seconds each time; a lane that hammers makes thousands.
        self.assertLess(step["outcomes"]["refused"], 60)

    def test_crash(self):
        step = self.fails_on(f"{{kind: crash, {MIDDLE}}}")
        self.assertGreater(step["outcomes"]["connect_error"], 0)
        self.assert_latency_unjudged(step)


class BrokenStreamsFailTheStep(FaultCase):
    def test_error_after_200(self):
        step = self.fails_on(f"{{kind: error_after_200, after_tokens: 1, {MIDDLE}}}")
        self.assertGreater(step["outcomes"]["stream_error"], 0)
        self.assertIn("stream_error", self.report_text)

    def test_truncated_stream(self):
        step = self.fails_on(f"{{kind: truncate, after_tokens: 1, {MIDDLE}}}")
        self.assertGreater(step["outcomes"]["truncated"], 0)
        self.assertIn("truncated", self.report_text)


class BrokenBytesFailTheStep(FaultCase):
    """What lives in bytes only: each kind for a share of the calls of one step."""

    def test_all_kinds_at_once(self):
        kinds = ["stall", "refuse, status: 502", "truncate, form: reset", "garbage",
                 "error_after_200, form: event"]
        # From the first calls of the load on, and with lanes that come back soon: some hundred
        # attempts, of which each kind has one in ten or more.
        step = self.fails_on(
            ", ".join(f"{{kind: {kind}, probability: 15%, at: 2s, from: first_request}}"
                      for kind in kinds),
            idle_timeout="500ms", more="failure: {back_off_min: 100ms, back_off_max: 200ms}")
        for outcome in ("idle_timeout", "http_error", "truncated", "stream_error"):
            self.assertGreater(step["outcomes"].get(outcome, 0), 0, step["outcomes"])
            self.assertIn(outcome, self.report_text)
        # A broken answer is the server's doing: no call is the client's own fault.
        self.assertEqual(step["outcomes"].get("client_error", 0), 0)

    def test_a_stall_is_idle_time_and_ends(self):
        # With one attempt a call: three of them, and the silences between, outlast the step, and
        # calls are unsent only once a play has ended.
        step = self.fails_on(f"{{kind: stall, after_tokens: 1, {MIDDLE}}}", idle_timeout="1s",
                             more="failure: {attempts: 1}")
        self.assertGreater(step["outcomes"]["idle_timeout"], 0)
        self.assertGreater(step["unsent_calls"], 0)


class AnswersThatRefuseFailTheStep(FaultCase):
    def test_context_limit_met_in_the_middle(self):
        # Half the corpus's prompts are longer.
        step = self.fails_on(f"{{kind: context_limit, tokens: 300, form: llama_cpp, {MIDDLE}}}")
        self.assertGreater(step["outcomes"]["context_overflow"], 0)
        self.assertIn("context_overflow", self.report_text)

    def test_server_errors(self):
        step = self.fails_on(f"{{kind: refuse, status: 500, {MIDDLE}}}")
        self.assertGreater(step["outcomes"]["http_error"], 0)
        self.assertLess(step["outcomes"]["http_error"], 60)


class NoLaneHammers(RigCase):
    """One lane on a session without subagents: every request that arrives is that lane's."""

    def silences(self, status, headers):
        """Refuses from the 30th request on; the silences after each refusal, in seconds."""
        server = self.answers(lambda number, seen: (status, headers) if number > 30 else (200, {}))
        corpus = trace_files.import_flat(self, sessions=4, calls=400)
        scenario = self.scenario(
            server.url, corpus=f"{{file: {corpus}}}", mix="{light: 100%}", sessions=[1], target=1,
            fleet="{local: 1}", measure="30s", warm_up="200ms")
        run = self.start_run(scenario)
        wait_until(lambda: len(self.refused(server)) > 3, "refusals")
        run.end()
        seen = [one for one in server.seen if "answered" in one]
        pairs = zip(seen, seen[1:])
        silences = [b["arrived"] - a["answered"] for a, b in pairs if a["status"] != 200]
        return silences

    @staticmethod
    def refused(server):
        return [one for one in server.seen if one.get("status", 200) != 200 and "answered" in one]

    def test_retry_after_counts(self):
        self.assertGreaterEqual(min(self.silences(429, {"Retry-After": "3"})), 3)

    def test_retry_after_of_zero_is_a_second(self):
        self.assertGreaterEqual(min(self.silences(429, {"Retry-After": "0"})), 1)

    def test_without_retry_after_it_doubles(self):
        silences = self.silences(503, {})
        self.assertGreaterEqual(min(silences), 1)
        self.assertGreaterEqual(silences[1], 2)
