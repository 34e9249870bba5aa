"""What a run makes of servers' pages: agreement where all is well, and each way in which they lie,
lack something or show what clients do not see. Over real sockets, by the gateway's own faults."""

from server_rig import ServerCase

ENVOY_HAS_NONE = {"ttft", "time_per_token", "refused"}
# While calls are measured, whether the machine is quick (from about 4.5 s after the preflight's
# first call) or slow; in either case it lasts beyond the end.
MIDDLE = "at: 6500ms, from: first_request"


class HealthyGateway(ServerCase):
    def test_clients_and_servers_agree(self):
        tight = "{ttft_p50: 60ms, interactivity_p50: 10 tok/s, errors: 10%}"
        both, server, slow = self.play(
            both={}, server={"judge": "server"}, slow={"bar": tight})
        for run in (both, server):
            self.assert_exit(run, 0)
            self.says(run, "PASS 6 sessions hold", "the deployment is back where it was")
            for source in ("client", "engines"):
                for key in ("ttft_p50", "interactivity_p50"):
                    self.assert_by(run, source, key, "pass")
            for source in ("client", "engines", "gateway"):
                self.assert_by(run, source, "errors", "pass", r"^0 of \d+ ")
            said = run.step["server"]
            self.assertEqual(said["judge"], run.name)
            self.assertEqual((said["restarts"], said["findings"], said["ends_sweep"]),
                             ([], [], None))
            missing = self.lacks(run)
            self.assertEqual(set(missing), {("gateway", "front")}, "engines lack nothing")
            self.assertEqual(set(missing["gateway", "front"]), ENVOY_HAS_NONE)
            counted = self.figure(run, "engines", "finished")["value"]
            calls = run.step["outcomes"]["ok"]
            self.assertLessEqual(abs(counted - calls), 0.05 * calls + 12, "both copies, all calls")
        # Whose words a verdict is made of.
        self.assertRegex(self.part(both.step, "TTFT")["reason"], r"^P50 of \d+ calls")
        self.assertRegex(self.part(server.step, "TTFT")["reason"],
                         r"^engines: of \d+ first tokens 100\.0% came within 5 s")
        self.assertRegex(self.part(server.step, "errors")["reason"], r"^gateway: 0 of \d+ requests")
        # They agree on a miss too: three lanes a copy wait for each other's prefill.
        self.assert_exit(slow, 1)
        self.says(slow, "FAIL 6 sessions miss")
        self.assert_by(slow, "client", "ttft_p50", "fail")
        self.assert_by(slow, "engines", "ttft_p50", "fail", "came within 0.06 s")
        self.assertNotIn("contradict", slow.words)


class MissingPages(ServerCase):
    def test_no_engine_answers(self):
        gone = f"{{kind: metrics_missing, pages: engines, {MIDDLE}}}"
        both, server = self.play(both={"faults": gone}, server={"faults": gone, "judge": "server"})
        self.assert_exit(both, 0)
        self.assert_by(both, "client", "ttft_p50", "pass")
        self.assert_exit(server, 3)
        self.says(server, "NO DATA 6 sessions have no data")
        for run in (both, server):
            for key in ("ttft_p50", "interactivity_p50"):
                self.assert_by(run, "engines", key, "no data", r"could not be read \(.*404")
            self.assertEqual(set(self.lacks(run)),
                             {("gateway", "front"), ("engines", "engine-0"), ("engines", "engine-1")})
            self.says(run, "engines: TTFT of engine-0: the page could not be read",
                      "warning: whether the deployment is back is not known")
            # What the gateway counts is still there.
            self.assert_by(run, "gateway", "errors", "pass")


class OneOfTwoEngines(ServerCase):
    def test_half_of_the_calls_are_never_taken_for_all(self):
        gone = f"{{kind: metrics_missing, form: close, copies: [1], {MIDDLE}}}"
        both, server, unasked = self.play(
            both={"faults": gone}, server={"faults": gone, "judge": "server"},
            unasked={"judge": "server", "engines": (0,)})
        self.assert_exit(both, 0)
        self.assert_exit(server, 3)
        for run in (both, server):
            # The one that is missing is named.
            self.assert_by(run, "engines", "ttft_p50", "no data",
                           "engine-1: the page could not be read")
            self.assertNotIn(("engines", "engine-0"), self.lacks(run))
            self.assertIn("ttft", self.lacks(run)["engines", "engine-1"])
            self.assertTrue(self.figure(run, "engines", "finished")["partial"])
            self.says(run, "engines: TTFT of engine-1: the page could not be read",
                      "of those that show it")
        # Nobody said that there are two: the clients' calls tell.
        self.assert_exit(unasked, 3)
        self.assert_by(unasked, "engines", "ttft_p50", "no data",
                       r"it observed \d+ first tokens, and \d+ calls got one: a copy is not scraped")


class StalePages(ServerCase):
    def test_a_page_that_stands_still_is_never_a_pass(self):
        stale = {"faults": f"{{kind: metrics_stale, pages: engines, {MIDDLE}}}"}
        both, server, speed = self.play(
            both=stale, server={**stale, "judge": "server"},
            # What moves at the finish of a call, alone.
            speed={**stale, "judge": "server", "bar": "{interactivity_p50: 10 tok/s, errors: 10%}"})
        self.assert_exit(both, 0)
        self.assertEqual(self.part(both.step, "TTFT")["verdict"], "pass")
        for run in (server, speed):
            self.assert_exit(run, 3)
            self.says(run, "NO DATA 6 sessions have no data")
        # Wanted, and not got.
        self.says(both, "engines: TTFT of", "engines: time per token (per request) of")
        still = "a copy is not scraped, or a page stands still|nothing was observed"
        for run in (both, server, speed):
            for key in ("ttft_p50", "interactivity_p50"):
                if run is not speed or key != "ttft_p50":
                    self.assert_by(run, "engines", key, "no data", still)
            self.assert_by(run, "gateway", "errors", "pass")


class PartialPages(ServerCase):
    def test_families_that_are_gone_for_a_while(self):
        # For half a second, amid the measured time, whenever that is.
        gone = ", ".join(
            "{kind: metrics_partial, form: families, pages: engines, "
            "families: [\"vllm:request_success\", \"vllm:time_to_first_token_seconds\"], "
            f"at: {at}ms, for: 500ms, from: first_request}}" for at in (6000, 8000))
        bar = {"faults": gone, "measure": "8s", "bar": "{ttft_p50: 5s, errors: 10%}"}
        both, server = self.play(both=bar, server={**bar, "judge": "server"})
        self.assert_exit(both, 0)
        # No data, and the repeat decides.
        self.assert_exit(server, 0)
        self.assertEqual([step["verdict"] for step in server.report["steps"]], ["no data", "pass"])
        for run in (both, server):
            first = run.report["steps"][0]["server"]
            self.assert_by(run, "engines", "ttft_p50", "no data", "is gone|fell from", step=0)
            self.assertEqual(first["findings"], [], "nothing was compared with it")
            self.assertEqual({one["what"] for one in first["restarts"]}, {"counters fell"})
            self.assertTrue(all(one["why"] for one in first["restarts"]), "each has its reason")
            self.says(run, "resets engines: engine-", "engines: TTFT of engine-0: its counters did")
            self.assertNotIn("restarts engines", run.words)
            self.assert_by(run, "gateway", "errors", "pass", step=0)

    def test_pages_that_are_cut_are_missing(self):
        cut = f"{{kind: metrics_partial, form: cut, pages: engines, {MIDDLE}}}"
        both, server = self.play(both={"faults": cut}, server={"faults": cut, "judge": "server"})
        self.assert_exit(both, 0)
        self.assert_exit(server, 3)
        for run in (both, server):
            self.assert_by(run, "engines", "ttft_p50", "no data", "the page could not be read")
            self.assert_by(run, "gateway", "errors", "pass")


class Restarts(ServerCase):
    def test_counters_reset_by_a_restart(self):
        # Within the first step's time, however slowly it began, and not in the next one's.
        times = ", ".join(
            f"{{kind: metrics_reset, form: restart, copies: [1], at: {at}s, from: first_request}}"
            for at in (4, 7, 10, 13))
        both, server = self.play(both={"faults": times},
                                 server={"faults": times, "judge": "server", "measure": "8s"})
        self.assert_exit(both, 0)
        self.assertEqual(len(both.report["steps"]), 1)
        # The next step is judged anew.
        self.assert_exit(server, 0)
        first, second = server.report["steps"]
        self.assertEqual((first["verdict"], second["verdict"]), ("no data", "pass"))
        self.assertEqual(second["server"]["restarts"], [])
        self.assert_by(server, "engines", "ttft_p50", "pass", step=1)
        for run in (both, server):
            self.assert_by(run, "engines", "ttft_p50", "no data",
                           "^engine-1: the process restarted", step=0)
            restarts = run.report["steps"][0]["server"]["restarts"]
            self.assertEqual([(one["source"], one["target"]) for one in restarts],
                             [("engines", "engine-1")])
            self.says(run, "restarts engines: engine-1: the process restarted")


class UndecidedBuckets(ServerCase):
    def test_five_point_three_seconds(self):
        # Lanes that wait for each other's 100 ms: 62 of them 6.2 s, between vLLM's edges of 5 and
        # 7.5 s, and seven 0.6 s, between 0.5 and 0.75 s.
        queue = {"copies": 1, "engines": (0,), "prefill": "100ms", "sessions": [7], "target": 7}
        long, short, decides = self.play(
            long={**queue, "judge": "server", "sessions": [62], "target": 62, "warm_up": "6s",
                  "measure": "6s", "drain_limit": "3s", "bar": "{ttft_p90: 5.3s}"},
            short={**queue, "bar": "{ttft_p50: 530ms}"},
            decides={**queue, "judge": "server", "bar": "{ttft_p50: 500ms}"})
        # Alone such a page is no verdict, and says why and what would be one.
        self.assert_exit(long, 2)
        self.assert_by(long, "engines", "ttft_p90", "too close", "cannot be resolved: .*5.*7.5 s")
        self.says(long, "cannot be resolved")
        # Beside a client it leaves the client's standing.
        self.assert_exit(short, 1)
        self.assert_by(short, "client", "ttft_p50", "fail")
        self.assert_by(short, "engines", "ttft_p50", "too close", "cannot be resolved: .*0.75 s")
        self.assertNotIn("contradict", short.words)
        # The same calls at an edge.
        self.assert_exit(decides, 1)
        self.assert_by(decides, "engines", "ttft_p50", "fail")


class Refusals(ServerCase):
    def test_in_front_of_the_engines(self):
        bar = "{ttft_p50: 5s, errors: 2%}"
        busy, down, alone = self.play(
            busy={"faults": "{kind: refuse, status: 429, probability: 30%, at: 3s, "
                            "from: first_request}", "judge": "server", "bar": bar},
            down={"faults": "{kind: refuse, status: 503, probability: 30%, at: 3s, "
                            "from: first_request}", "bar": bar},
            alone={"faults": "{kind: refuse, status: 429, probability: 30%, at: 3s, "
                             "from: first_request}", "bar": bar, "front": False})
        for run in (busy, down, alone):
            self.assert_exit(run, 1)
            self.says(run, "FAIL 6 sessions miss", "errors")
            self.assert_by(run, "client", "errors", "fail")
            # The engines saw nothing of it, and that proves nothing.
            self.assertEqual(self.figure(run, "engines", "errors")["value"], 0)
            self.assert_by(run, "engines", "errors", "no data",
                           "where .* were sent: the others were turned away in front of it")
        for run in (busy, down):
            self.assert_by(run, "gateway", "errors", "fail",
                           r"of \d+ requests were answered with an error status")
            self.assertGreater(self.figure(run, "gateway", "errors")["value"], 10)
            self.assertNotIn("contradict", run.words)
        self.assertRegex(self.part(busy.step, "errors")["reason"], "^gateway: ")


class CallersWhoGiveUp(ServerCase):
    def test_a_good_status_is_no_good_answer(self):
        hang = {"faults": "{kind: stall, after_tokens: 0, probability: 15%, at: 3s, "
                          "from: first_request}",
                "call_deadline": "1500ms", "measure": "8s", "bar": "{ttft_p50: 5s, errors: 3%}"}
        both, server = self.play(both=hang, server={**hang, "judge": "server"})
        self.assert_exit(both, 1)
        self.assert_exit(server, 2)
        self.says(server, "requests for errors that their callers gave up, and it turns on them")
        for run in (both, server):
            self.assert_by(run, "client", "errors", "fail")
            self.assert_by(run, "gateway", "errors", "too close", "^0 of .*their callers gave up")
            self.assertGreater(self.figure(run, "gateway", "cancelled")["value"], 3)
            self.assertNotIn("contradict", run.words)


class AfterTheRun(ServerCase):
    def test_orphaned_work_and_gauges_that_never_return(self):
        # Calls that the end cuts, with the engine working on or standing still. Of a slow machine's
        # few calls one is long as well.
        long_ones = f"{{kind: uncapped, tokens: 60k, probability: 40%, {MIDDLE}}}"
        cut = {"drain_limit": "2s", "bar": "{ttft_p50: 5s}"}
        orphan, frozen = self.play(
            orphan={**cut, "faults": f"{long_ones}, {{kind: orphan, {MIDDLE}}}"},
            frozen={**cut, "faults": f"{long_ones}, {{kind: gauges_frozen, {MIDDLE}}}"})
        for run in (orphan, frozen):
            self.assert_exit(run, 0)  # The target's.
            self.assertEqual(run.report["drain"]["state"], "not back")
            self.says(run, "warning: the deployment is NOT back where it was before the run",
                      "orphaned work")
            self.assertGreater(run.report["drain"]["orphaned_requests"], 0)
            self.assertRegex(run.words, r"engine-[01]: running \d+, before the run 0")
        self.assertIn("no counter moves: the gauge was not written again", frozen.words)
        self.assertIn("orphaned work, if those gauges are right", frozen.words)
        self.assertNotIn("if those gauges", orphan.words)
        self.assertNotIn("no counter moves", orphan.words)
        self.assertIn("still moves", orphan.words)


class EndsOfSweeps(ServerCase):
    def test_a_full_kv_cache(self):
        full, = self.play(full={"faults": "{kind: kv_full, share: 97%, at: 2s, from: first_request}",
                                "sessions": [6, 8], "target": 6})
        self.assert_exit(full, 0)
        self.assertEqual(len(full.report["steps"]), 1, "the sweep ends after the step")
        self.assertIn("at least 95%", full.step["server"]["ends_sweep"])
        self.assertIn("the KV cache is full", full.report["stopped_because"])
        self.assertIn("stopped by KV cache", full.report["capacity"]["sentence"])
        self.says(full, "PASS 6 sessions hold", "stopped by KV cache",
                  "ends after this step: the KV cache held at least 95% for")
        self.assertGreater(self.figure(full, "engines", "kv_fill")["max"], 0.95)

    def test_a_short_peak_of_an_engine_that_is_gone_is_none(self):
        # Full for 1.5 s, and its page is missing from then on.
        peak, = self.play(peak={
            "faults": "{kind: kv_full, share: 97%, at: 3s, for: 1500ms, from: first_request}, "
                      "{kind: metrics_missing, copies: [0], at: 4s, from: first_request}",
            "sessions": [6, 8], "target": 8, "bar": "{ttft_p50: 5s, errors: 10%}"})
        self.assert_exit(peak, 0)
        self.assertEqual(len(peak.report["steps"]), 2, peak.process.text())
        for step in peak.report["steps"]:
            self.assertIsNone(step["server"]["ends_sweep"])
        self.assertNotIn("KV cache", peak.report["capacity"]["sentence"])


class ContextLimit(ServerCase):
    def test_turning_long_conversations_away_is_no_speed(self):
        # Without a cache each prompt costs its length, and long ones make everybody wait.
        costly = {"copies": 1, "engines": (0,), "prefix_cache": "false", "heavy": 4,
                  "mix": "{heavy: 50%, light: 50%}", "prefill": "10ms", "prefill_speed": 50000,
                  "bar": "{ttft_p50: 250ms, errors: 10%}"}
        limit = "{kind: context_limit, tokens: 1500, form: vllm, at: 2s, from: first_request}"
        whole, both, server = self.play(
            whole=costly, both={**costly, "faults": limit},
            server={**costly, "faults": limit, "judge": "server"})
        # The recipe that answers everybody is too slow.
        self.assert_exit(whole, 1)
        for source in ("client", "engines"):
            self.assert_by(whole, source, "ttft_p50", "fail")
        for run in (both, server):
            # What the other still answers is quick, by the engine's own page as well …
            self.assertLess(run.step["ttft"]["p90_without_failed_calls_s"]["value"], 0.25)
            self.assertGreater(run.step["outcomes"]["context_overflow"], 10)
            # … and is no pass: it fails, and its speed is that of a lighter load.
            self.assert_exit(run, 1)
            self.says(run, "FAIL 6 sessions miss", "context_overflow")
            self.assertEqual(self.part(run.step, "errors")["verdict"], "fail")
            for source in ("client", "engines"):
                self.assert_by(run, source, "ttft_p50", "no data",
                               "the latencies belong to a lighter load")
            # Both see it: the engine itself turned them away.
            for source in ("client", "engines", "gateway"):
                self.assert_by(run, source, "errors", "fail")
        self.assertRegex(self.part(server.step, "errors")["reason"],
                         r"^(engines|gateway): \d+ of \d+ requests were answered with an error")
