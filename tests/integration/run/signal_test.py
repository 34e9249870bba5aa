"""Signals: drained, aborted, left at once, and nobody left behind."""

import json
import os
import signal

from rig import RigCase


class CtrlC(RigCase):
    def start_long(self):
        """A run under load in a first step that would go on for long; and its gateway."""
        gateway = self.gateway()
        run = self.start_run(self.scenario(gateway.url, measure="40s", drain_limit="30s"))
        run.wait_line(r"step 1: 4 sessions")
        run.agents = run.children()
        self.assertEqual(len(run.agents), 2)
        run.wait_line(r"measuring, ")
        # Some two seconds of load in the measured time: the records of the first are stored.
        self.wait_answered(gateway, 120)
        return run, gateway

    def test_the_first_drains_and_reports(self):
        run, _ = self.start_long()
        os.kill(run.pid, signal.SIGINT)
        run.wait_line(r"stopping: calls in flight may finish")
        self.assertEqual(run.wait_exit(), 5, run.text())
        self.assertRegex(run.text("out"), r"\ASTOPPED: stopped by a signal")
        self.check_interrupted(run)
        self.assert_gone(run.agents)
        code, listed = self.command("runs", "list", "--store", self.store)
        self.assertEqual(code, 0)
        self.assertRegex(listed.text(), r"stopped, exit 5")

    def check_interrupted(self, run):
        """The step that was running is in report, JSON and store: its numbers, no verdict."""
        report = self.report()
        self.assertEqual(report["run"]["exit_code"], 5)
        self.assertEqual([step["sessions"] for step in report["steps"]], [4])
        step = report["steps"][0]
        self.assertEqual(step["verdict"], "no data")
        self.assertTrue(0 < step["stopped_after_s"] < 40, step["stopped_after_s"])
        self.assertRegex(step["reasons"][0], r"\Astopped after \S+ of 40s\Z")
        self.assertGreater(step["attempts"], 0)
        self.assertGreater(step["ttft"]["n"], 0)
        self.assertEqual(step["outcomes"]["cut"], 0)
        self.check_nothing_unmeasured(report["run"]["id"], step)
        self.assertRegex(run.text("out"), r"(?m)^4 +stopped ")
        code, shown = self.command("runs", "show", report["run"]["id"], "--store", self.store,
                                   "--json")
        self.assertEqual(code, 0, shown.text())
        self.assertEqual(json.loads(shown.text("out"))["steps"], report["steps"])

    def check_nothing_unmeasured(self, run_id, step):
        """What agents tell at a step's end is absent in the JSON report and in the export."""
        for key in ("offered_share", "sent_share", "lane_time_share", "requests_in_flight_mean",
                    "unsent_calls"):
            self.assertIsNone(step[key], key)
        for agent in step["agents"]:
            self.assertIsNone(agent["attempts"])
            self.assertIsNone(agent["skew_ms"])
        code, exported = self.command("runs", "export", run_id, "--steps", "jsonl", "--store",
                                      self.store)
        self.assertEqual(code, 0, exported.text())
        row = json.loads(exported.text("out"))
        self.assertAlmostEqual(row["stopped_after_ns"] / 1e9, step["stopped_after_s"], places=6)
        for key in ("offered_share", "sent_share", "lane_in_flight_share",
                    "requests_in_flight_mean", "unsent_calls"):
            self.assertIsNone(row[key], key)

    def test_sigterm_and_sighup_are_the_same(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            run, _ = self.start_long()
            os.kill(run.pid, number)
            run.wait_line(r"stopping: calls in flight may finish")
            os.kill(run.pid, signal.SIGHUP)  # Never more than a first stop.
            self.assertEqual(run.wait_exit(), 5, run.text())
            self.assertNotIn("aborting", run.text())
            self.check_interrupted(run)

    def test_what_was_measured_is_reported(self):
        gateway = self.gateway()
        scenario = self.scenario(gateway.url, sessions=[4, 5])
        run = self.start_run(scenario)
        run.wait_line(r"step 2: (4|5) sessions")
        os.kill(run.pid, signal.SIGTERM)
        self.assertEqual(run.wait_exit(), 5, run.text())
        self.assertRegex(run.text("out"), r"\ASTOPPED: stopped by a signal; what was measured")
        self.assertEqual(self.report()["steps"][0]["sessions"], 4)

    def test_the_second_aborts_and_the_third_leaves(self):
        run, _ = self.start_long()
        # Frozen agents answer no stop, so the run cannot end by draining.
        for pid in run.agents:
            os.kill(pid, signal.SIGSTOP)
        os.kill(run.pid, signal.SIGINT)
        run.wait_line(r"stopping: calls in flight may finish")
        os.kill(run.pid, signal.SIGINT)
        run.wait_line(r"aborting: calls in flight are hung up")
        os.kill(run.pid, signal.SIGINT)
        self.assertEqual(run.wait_exit(20), 5, run.text())
        self.assert_gone(run.agents)
        self.check_interrupted(run)

    def test_the_second_aborts_quickly(self):
        run, gateway = self.start_long()
        # Nothing is answered any more: a drain would take its whole limit.
        os.kill(gateway.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, gateway.pid, signal.SIGCONT)
        os.kill(run.pid, signal.SIGINT)
        run.wait_line(r"stopping: calls in flight may finish")
        os.kill(run.pid, signal.SIGINT)
        run.wait_line(r"aborting: calls in flight are hung up")
        self.assertEqual(run.wait_exit(15), 5, run.text())
        self.assertRegex(run.text("out"), r"\ASTOPPED: stopped by a signal")
        self.check_interrupted(run)
        self.assert_gone(run.agents)

    def test_stopped_while_agents_are_awaited(self):
        gateway = self.gateway()
        scenario = self.scenario(gateway.url, fleet='{agents: 1, listen: "127.0.0.1:0", wait: 60s}')
        run = self.start_run(scenario)
        run.wait_line(r"preflight: ok")
        os.kill(run.pid, signal.SIGINT)
        self.assertEqual(run.wait_exit(10), 5, run.text())
        self.assertIn("STOPPED", run.text("out"))
        words = " ".join(run.text("out").split())
        self.assertIn(f"(plimsoll runs show {self.report()['run']['id']})", words)
        self.assertIn(f"written {self.json}", words)


class ClosedPipes(RigCase):
    def test_a_reader_that_goes_away_ends_nothing(self):
        # As `plimsoll run … 2>&1 | head -1` does.
        gateway = self.gateway()
        run = self.start_run(self.scenario(gateway.url, measure="2s"))
        run.wait_line(r"preflight")
        run.hang_up()
        self.assertIn(run.wait_exit(), (0, 2, 3))
        self.assertEqual(self.report()["steps"][0]["sessions"], 4)
        code, listed = self.command("runs", "list", "--store", self.store)
        self.assertEqual(code, 0, listed.text())
        self.assertRegex(listed.text(), r"finished, exit \d")


class DeadCoordinator(RigCase):
    def test_agents_do_not_outlive_it(self):
        gateway = self.gateway()
        run = self.start_run(self.scenario(gateway.url, measure="40s"))
        run.wait_line(r"step 1: 4 sessions")
        agents = run.children()
        self.assertEqual(len(agents), 2)
        os.kill(run.pid, signal.SIGKILL)
        self.assert_gone([run.pid, *agents])
        # The store is whole, and says that the run did not end.
        code, listed = self.command("runs", "list", "--store", self.store)
        self.assertEqual(code, 0, listed.text())
        self.assertIn("broken off: its coordinator died", listed.text())

    def test_dialled_agent_ends_by_itself(self):
        gateway = self.gateway()
        scenario = self.scenario(
            gateway.url, measure="40s", fleet='{agents: 1, listen: "127.0.0.1:0", wait: 20s}')
        run = self.start_run(scenario)
        where = run.wait_line(r"--coordinator (\S+)")[1]
        agent = self.start("plimsoll-agent", "--coordinator", where, "--wait", "2")
        run.wait_line(r"step 1: 4 sessions")
        os.kill(run.pid, signal.SIGKILL)
        self.assertEqual(agent.wait_exit(40), 4, agent.text())
