"""What ends a run from outside beside signals: `plimsoll stop`, and the kill switch's file."""

import csv
import io
import os
import signal
import time

from rig import RigCase


class Outside(RigCase):
    def start_long(self, *flags, api="127.0.0.1:0", **over):
        """A run under load in a first step that would go on for long; and its gateway."""
        gateway = self.gateway()
        run = self.start_run(
            self.scenario(gateway.url, measure="60s", drain_limit="30s", **over), "--http", api,
            *flags)
        run.id = run.wait_line(r"run (\S+) \(seed")[1]
        run.wait_line(r"step 1: 4 sessions")
        run.agents = run.children()
        self.assertEqual(len(run.agents), 2)
        run.wait_line(r"measuring, ")
        self.wait_answered(gateway, 60)
        return run, gateway

    def stop(self, *words, timeout_s=90):
        return self.command("stop", *words, "--store", self.store, timeout_s=timeout_s)


class StopCommand(Outside):
    def test_drains_without_an_api(self):
        run, _ = self.start_long(api="off")
        code, stop = self.stop(run.id[:-1])
        self.assertEqual(code, 0, stop.text())
        self.assertEqual(run.wait_exit(), 5, run.text())
        self.assertIn("stopping: calls in flight may finish", run.text())
        self.assertNotIn("aborting", run.text())
        self.assertRegex(stop.text("out"), rf"(?m)^run {run.id} was asked to drain")
        self.assertRegex(stop.text("out"), rf"(?m)^run {run.id} has ended: stopped, exit 5: ")
        self.assertEqual(self.report()["steps"][0]["outcomes"]["cut"], 0)
        self.assert_gone(run.agents)
        self.assertEqual(list((self.store / "stop").iterdir()), [])
        # Once more there is nothing to stop.
        code, again = self.stop(run.id)
        self.assertEqual(code, 64)
        self.assertRegex(again.text("err"), rf"run {run.id} has ended already \(stopped, exit 5")

    def test_aborts_at_once(self):
        run, gateway = self.start_long()
        # Nothing is answered any more: a drain would take its whole limit.
        os.kill(gateway.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, gateway.pid, signal.SIGCONT)
        begun = time.monotonic()
        code, stop = self.stop(run.id, "--abort")
        self.assertEqual(code, 0, stop.text())
        self.assertEqual(run.wait_exit(), 5, run.text())
        self.assertLess(time.monotonic() - begun, 25, "the drain limit is 30 s")
        self.assertIn("aborting: calls in flight are hung up", run.text())
        self.assertRegex(stop.text("out"), "was asked to abort: its calls are hung up")
        self.assert_gone(run.agents)

    def test_says_why_there_is_nothing_to_stop(self):
        code, stop = self.stop("20260101-000000-none")
        self.assertEqual(code, 64)
        self.assertIn("plimsoll: ", stop.text("err"))
        run, _ = self.start_long()
        for words, said in (
            (["nonesuch"], rf"the store has no run nonesuch.*; what goes on here is {run.id}"),
            ([], rf"stop which run\? what goes on here is {run.id}"),
            ([run.id, "--wait", "soon"], r"--wait: "),
        ):
            code, stop = self.stop(*words)
            self.assertEqual(code, 64, stop.text())
            self.assertRegex(stop.text("err"), said)
        # A coordinator that is frozen does not take it; it does not stop later by surprise.
        os.kill(run.pid, signal.SIGSTOP)
        code, stop = self.stop(run.id)
        os.kill(run.pid, signal.SIGCONT)
        self.assertEqual(code, 1, stop.text())
        self.assertRegex(stop.text("err"), r"did not take the request .*withdrawn")
        self.assertFalse((self.store / "stop" / run.id).exists())
        os.kill(run.pid, signal.SIGKILL)
        self.assert_gone([run.pid])
        code, stop = self.stop(run.id)
        self.assertEqual(code, 64, stop.text())
        self.assertRegex(stop.text("err"),
                         rf"run {run.id} does not go on: its coordinator died; nothing runs here")


class KillFile(Outside):
    def test_agents_abort_within_a_second(self):
        run, gateway = self.start_long(more="kill_switch: {file: STOP}")
        # Answers that never come again: only hanging up ends them.
        os.kill(gateway.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, gateway.pid, signal.SIGCONT)
        begun = time.monotonic()
        (self.folder / "STOP").touch()
        run.wait_line(r"kill switch: the file \S*STOP exists")
        tripped = time.monotonic()
        self.assertEqual(run.wait_exit(), 5, run.text())
        self.assertLess(tripped - begun, 2, "looked at several times a second")
        self.assertLess(time.monotonic() - begun, 25, "the drain limit is 30 s")
        self.assertIn("STOPPED: kill switch: the file", run.text("out"))
        self.assert_gone(run.agents)
        # The log has the instants of the rule and of the last record's agent's end.
        code, shown = self.command("runs", "show", run.id, "--store", self.store)
        self.assertEqual(code, 0)
        self.assertRegex(shown.text(), r"kill switch: the file")
        self.check_records(run)

    def check_records(self, run):
        """Every call that was open ended with the trip: their ends are within a second."""
        code, out = self.command("runs", "export", run.id, "--records", "csv", "--store",
                                 self.store)
        self.assertEqual(code, 0, out.text())
        rows = list(csv.DictReader(io.StringIO(out.text("out"))))
        self.assertGreater(len(rows), 20)
        ends = sorted(int(row["end_ns"]) for row in rows if row.get("end_ns"))
        hung_up = [row for row in rows if row["outcome"] == "cut"]
        self.assertGreater(len(hung_up), 0, "calls were open as it tripped")
        cut = sorted(int(row["end_ns"]) for row in hung_up)
        self.assertLess((cut[-1] - cut[0]) / 1e9, 1.0, "all agents hung up within a second")
        self.assertEqual(cut[-1], ends[-1], "nothing ended after that")
