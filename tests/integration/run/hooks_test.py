"""Hooks around whole runs: what runs when, what a run ends with, and that a rollback always comes,
also where the coordinator is killed at any instant."""

import concurrent.futures
import json
import os
import random
import signal
import time

from hook_rig import HookCase
from rig import PATIENCE_S, wait_until

SHORT = {"sessions": [2, 3], "target": 3, "measure": "4s"}


class HooksOfARun(HookCase):
    def run_with(self, hooks, *flags, **over):
        scenario = self.scenario(self.gateway().url, more=hooks, **over)
        run = self.start_run(scenario, *flags)
        run.code = run.wait_exit()
        return run

    def test_a_pass_is_rolled_back_and_everything_is_kept(self):
        run = self.run_with(self.hooks(rollout_s=1, rollback_s=1))
        self.assertIn(run.code, (0, 2, 3), run.text())
        self.assertEqual(self.begun(), ["rollout", "rollback"])
        self.assert_one_at_a_time()
        report = self.report()
        self.assertEqual([(hook["phase"], hook["state"]) for hook in report["hooks"]],
                         [("rollout", "ok"), ("rollback", "ok")])
        self.assertEqual(report["rollback"], "done")
        run_id = report["run"]["id"]
        code, shown = self.command("runs", "show", run_id, "--store", self.store)
        self.assertEqual(code, 0, shown.text())
        self.assertIn("rollout (attempt 1) ended well", shown.text())
        self.assertIn("rollback (attempt 1) ended well", shown.text())
        self.assertEqual(list((self.store / "intents").glob("*.json")), [], "nothing is owed")

    def test_only_a_pass_that_was_asked_for_is_promoted(self):
        run = self.run_with(self.hooks(), "--promote", bar="{ttft_p50: 20s, errors: 50%}")
        self.assertEqual(run.code, 0, run.text())
        self.assertEqual(self.begun(), ["rollout", "promote"])
        self.trail.unlink()
        run = self.run_with(self.hooks(), "--promote", bar="{ttft_p50: 1ms, errors: 50%}")
        self.assertEqual(run.code, 1, run.text())
        self.assertEqual(self.begun(), ["rollout", "rollback"])

    def test_a_rollout_that_fails_sends_nothing_and_is_taken_back(self):
        server = self.answers()
        run = self.start_run(self.scenario(server.url, more=self.hooks(rollout_exit=7)))
        self.assertEqual(run.wait_exit(), 4, run.text())
        self.assertEqual(server.seen, [])
        self.assertEqual(self.begun(), ["rollout", "rollback"])
        self.assertIn("rollout (attempt 1) failed with exit code 7", run.text())

    def test_ctrl_c_rolls_back_and_cannot_stop_it(self):
        scenario = self.scenario(self.gateway().url, more=self.hooks(rollback_s=2), measure="60s")
        run = self.start_run(scenario)
        run.wait_line(r"step 1: ")
        run.popen.send_signal(signal.SIGINT)
        run.wait_line(r"rollback: its hook has")
        for _ in range(2):
            run.popen.send_signal(signal.SIGINT)
        run.wait_line(r"it is not interrupted")
        self.assertEqual(run.wait_exit(), 5, run.text())
        self.assertEqual(self.events()[-1][:2], ("end", "rollback"))

    def test_a_rollback_that_fails_is_six_until_it_is_recovered(self):
        run = self.run_with(self.hooks(rollback_exit=3, tries=2))
        self.assertEqual(run.code, 6, run.text())
        self.assertEqual(self.begun(), ["rollout", "rollback", "rollback"])
        self.assertIn("ROLLBACK FAILED", run.text("out").splitlines()[0])
        _, listed = self.command("runs", "list", "--store", self.store)
        self.assertIn("ROLLBACK FAILED", listed.text())
        # Nothing new begins meanwhile: its first try is the old run's rollback.
        again = self.start_run(self.folder / "scenario.yaml")
        self.assertEqual(again.wait_exit(), 6, again.text())
        self.assertIn("an earlier run is not rolled back", again.text())
        self.assertNotIn("rollout", self.begun()[1:])
        # Its program is mended; the arguments that the intent keeps stay what they were.
        (self.folder / "hook.sh").write_text("#!/bin/sh\nexit 0\n")
        code, recovered = self.command("recover", "--store", self.store)
        self.assertEqual(code, 0, recovered.text())
        _, listed = self.command("runs", "list", "--store", self.store)
        self.assertNotIn("ROLLBACK FAILED", listed.text())

    def test_a_window_that_is_too_short_begins_nothing(self):
        run = self.run_with(self.hooks() + "window: 60s\n")
        self.assertEqual(run.code, 4, run.text())
        self.assertIn("the window of 1m is too short", run.text())
        self.assertEqual(self.begun(), [])
        self.assertEqual(list((self.store / "intents").glob("*.json")), [])


class KilledAtAnyInstant(HookCase):
    """SIGKILL to the coordinator at seeded instants. PLIMSOLL_KILLS: how many (default 5)."""

    LONGEST_S = 16

    def one(self, case, seed, url):
        rng = random.Random(seed)
        delay = rng.uniform(0, self.LONGEST_S)
        restart = rng.random() < 0.5
        case.scenario(url, more=case.hooks(rollout_s=1, rollback_s=1).replace(
            "hooks:\n", "hooks:\n  grace: 1s\n"), **SHORT)
        run = case.start_run(case.folder / "scenario.yaml")
        began = time.monotonic()
        while time.monotonic() - began < delay and run.popen.poll() is None:
            time.sleep(0.02)
        run.popen.kill()
        ended_itself = run.popen.wait() != -signal.SIGKILL
        judged = len([line for _, stream, line in run.lines if " sessions: " in line and
                      stream == "err" and any(w in line for w in ("PASS", "FAIL", "NO DATA",
                                                                  "TOO CLOSE"))])
        if not restart:
            # The guardian is on its own. It is there before the rollout begins: killed in between,
            # nothing was begun, and who starts next settles it.
            wait_until(lambda: not self.owed(case) or "rollout" not in case.begun(),
                       f"seed {seed}: the guardian's rollback")
        code, recovered = case.command("recover", "--store", case.store)
        if not case.store.exists():
            return f"seed {seed}: {delay:.1f} s, before the store was there"
        case.assertEqual(code, 0, f"seed {seed}: {recovered.text()}")
        begun = case.begun()
        if "rollout" in begun:
            case.assertIn("rollback", begun, seed)
        if begun:
            case.assertEqual(case.events()[-1][:2], ("end", "rollback"), (seed, case.events()))
        case.assert_one_at_a_time(killed=("rollout", "rollback"))
        case.assertFalse(self.owed(case))
        kept = self.steps_kept(case)
        if kept is not None:
            case.assertGreaterEqual(kept, judged, f"seed {seed}: a closed step was lost")
        _, listed = case.command("runs", "list", "--store", case.store)
        if not ended_itself and kept is not None:
            case.assertIn("interrupted", listed.text(), f"seed {seed}")
        return f"seed {seed}: {delay:.1f} s, {'recover' if restart else 'guardian'}, {begun}"

    @staticmethod
    def owed(case):
        """Whether an intent stands open."""
        for path in (case.store / "intents").glob("*.json"):
            try:
                if json.loads(path.read_text())["state"] == "open":
                    return True
            except (OSError, ValueError):
                return True
        return False

    @staticmethod
    def steps_kept(case):
        """Of the one run in the store; None: there is none."""
        code, out = case.command("runs", "list", "--store", case.store)
        ids = [line.split()[0] for line in out.text("out").splitlines()
               if line[:1].isdigit()]
        if code != 0 or not ids:
            return None
        code, out = case.command("runs", "export", ids[0], "--store", case.store, "--steps",
                                 "jsonl")
        return len(out.text("out").splitlines()) if code == 0 else 0

    def test_a_rollback_comes_and_never_beside_another_hook(self):
        kills = int(os.environ.get("PLIMSOLL_KILLS", "5"))
        base = int(os.environ.get("PLIMSOLL_KILL_SEED", random.SystemRandom().randrange(10**6)))
        print(f"{kills} kills from seed {base}", flush=True)
        url = self.gateway().url

        def one(seed):
            case = HookCase()
            case.setUp()
            try:
                return self.one(case, seed, url)
            finally:
                case.doCleanups()

        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            for words in pool.map(one, range(base, base + kills)):
                print(words, flush=True)
