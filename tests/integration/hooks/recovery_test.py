"""Rollbacks whatever is killed: a program that does with hooks what a coordinator does is killed at
drawn instants, and the real guardian and the real `plimsoll recover` do what is owed.

Every hook writes to one journal, opened to append: who starts, that it lives, that it ends.
"""

import json
import os
import pathlib
import random
import re
import signal
import subprocess
import tempfile
import time
import unittest

from rig import BIN, PATIENCE_S, RigCase, alive, wait_until

SEEDS = [int(seed) for seed in os.environ.get("PLIMSOLL_SEEDS", "1 2 3 4 5").split()]

# It beats on for COUNT times; a rollout leaves one in a session of its own, deaf to SIGTERM.
HOOK = """\
say() { echo "$1 $PLIMSOLL_PHASE $PLIMSOLL_ATTEMPT $$" >>"$JOURNAL"; }
if [ "$PLIMSOLL_PHASE" = rollout ]; then
  setsid sh -c 'trap "" TERM; while :; do
    echo "beat rollout $PLIMSOLL_ATTEMPT $$" >>"$JOURNAL"; sleep 0.02; done' &
fi
say start
i=0
while [ $i -lt 20 ]; do say beat; i=$((i + 1)); sleep 0.02; done
[ ! -e "$BROKEN" ] || exit 9
say end
"""


class Rig(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="plimsoll-hooks-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.store = self.folder / "store"
        self.store.mkdir()
        self.journal = self.folder / "journal"
        self.broken = self.folder / "broken"
        (self.folder / "hook.sh").write_text(HOOK)
        self.env = dict(os.environ, JOURNAL=str(self.journal), BROKEN=str(self.broken))
        self.coordinators = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for coordinator in self.coordinators:
            coordinator.kill()
            coordinator.wait()
            coordinator.stdout.close()
        # Whatever a failed test left; hooks and guardian have the journal in their environment.
        mark = b"JOURNAL=" + os.fsencode(self.journal)
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                    os.kill(int(entry.name), signal.SIGKILL)
            except OSError:
                continue

    def guardians(self):
        pids = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"guardian" in words and os.fsencode(self.store) in words and alive(int(entry.name)):
                pids.append(int(entry.name))
        return pids

    def begin(self, grace_ms=200, tries=1):
        """A coordinator whose guardian watches."""
        hook = f"sh {self.folder}/hook.sh"
        with open(self.folder / "stderr", "ab") as stderr:
            coordinator = subprocess.Popen(
                [BIN / "hooked_rig", BIN / "plimsoll", self.store, "r1", str(grace_ms), str(tries),
                 hook, hook], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=stderr, text=True)
        self.coordinators.append(coordinator)
        self.assertEqual(coordinator.stdout.readline(), "guarded\n")
        self.assertEqual(len(self.guardians()), 1)
        return coordinator

    def recover(self):
        return subprocess.run([BIN / "plimsoll", "recover", "--store", self.store],
                              cwd=self.folder, env=self.env, capture_output=True, text=True,
                              timeout=4 * PATIENCE_S, check=False)

    def kill(self, coordinator):
        coordinator.kill()
        coordinator.wait()

    def intent(self):
        path = self.store / "intents" / "r1.json"
        return json.loads(path.read_text()) if path.exists() else None

    def await_guardian(self):
        wait_until(lambda: not self.guardians(), "the guardian's end")

    def lines(self):
        if not self.journal.exists():
            return []
        return [line.split() for line in self.journal.read_text().splitlines()]

    def check_rolled_back(self):
        """At least one rollback ended, and no two hooks were alive at once: once another speaks,
        whoever spoke before is never heard again."""
        lines = self.lines()
        self.assertIn(["end", "rollback"], [line[:2] for line in lines])
        order = []
        for _, phase, attempt, _ in lines:
            if not order or order[-1] != (phase, attempt):
                order.append((phase, attempt))
        self.assertEqual(len(order), len(set(order)), f"two hooks at once: {order}")
        self.assertEqual(order[-1][0], "rollback")


class KilledCoordinator(Rig):
    def run_seed(self, seed, restart):
        draw = random.Random(seed)
        coordinator = self.begin(grace_ms=2000 if restart else 200)
        time.sleep(draw.uniform(0, 1.5))  # The fault's instant, no wait for anything.
        self.kill(coordinator)
        if restart:
            result = self.recover()
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.await_guardian()
        self.check_rolled_back()
        result = self.recover()
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        # What the guardian did is kept until a store takes it in.
        self.assertEqual((self.intent() or {"state": "rolled back"})["state"], "rolled back")

    def test_the_guardian_rolls_back(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                print(f"seed {seed}, nobody starts again", flush=True)
                self.doCleanups()  # Of the seed before.
                self.setUp()
                self.run_seed(seed, restart=False)

    def test_whoever_starts_again_rolls_back(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                print(f"seed {seed}, started again", flush=True)
                self.doCleanups()  # Of the seed before.
                self.setUp()
                self.run_seed(seed, restart=True)


class Guardian(Rig):
    def test_it_ends_with_a_run_that_ends_well(self):
        coordinator = self.begin()
        self.assertEqual(coordinator.wait(PATIENCE_S), 0)
        self.await_guardian()
        self.check_rolled_back()
        self.assertEqual([line[:2] for line in self.lines()].count(["start", "rollback"]), 1)
        self.assertIsNone(self.intent())
        self.assertEqual(self.recover().returncode, 0)

    def test_a_killed_one_is_replaced(self):
        coordinator = self.begin()
        first = self.guardians()
        os.kill(first[0], signal.SIGKILL)
        wait_until(lambda: self.guardians() and self.guardians() != first, "another guardian")
        self.kill(coordinator)
        self.await_guardian()
        self.check_rolled_back()

    def test_polite_signals_do_not_end_it(self):
        coordinator = self.begin()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            os.kill(self.guardians()[0], number)
        self.kill(coordinator)
        self.await_guardian()
        self.check_rolled_back()

    def test_killed_in_the_middle_it_leaves_the_rest_to_recover(self):
        coordinator = self.begin()
        self.kill(coordinator)
        wait_until(lambda: ["start", "rollback"] in [line[:2] for line in self.lines()],
                   "the rollback's start")
        os.kill(self.guardians()[0], signal.SIGKILL)
        result = self.recover()
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("rollback hook (attempt 1) of the run that broke off is gone", result.stdout)
        self.check_rolled_back()

    def test_a_rollback_that_fails_for_good_is_shouted_and_can_be_tried_again(self):
        self.broken.touch()
        coordinator = self.begin(tries=2)
        self.kill(coordinator)
        self.await_guardian()
        self.assertEqual([line[:2] for line in self.lines()].count(["start", "rollback"]), 2)
        self.assertIn("ROLLBACK FAILED for run r1", (self.folder / "stderr").read_text())
        log = (self.store / "hooks/r1/guardian.log").read_text()
        self.assertIn("exit code 9", log)
        self.assertTrue(log.endswith("exit code 6\n"), log)
        self.assertEqual(self.intent()["state"], "rollback failed")
        result = self.recover()
        self.assertEqual(result.returncode, 6, result.stdout)
        self.assertIn("ROLLBACK FAILED", result.stdout)
        self.broken.unlink()
        result = self.recover()
        self.assertEqual(result.returncode, 0, result.stdout)
        self.check_rolled_back()

    def test_recover_waits_for_a_guardian_that_is_at_it(self):
        coordinator = self.begin(grace_ms=0)
        self.kill(coordinator)
        wait_until(lambda: (self.intent() or {}).get("holder_kind") == "guardian",
                   "the guardian's turn")
        result = self.recover()
        self.assertEqual(result.returncode, 0, result.stdout)
        self.check_rolled_back()
        self.assertEqual([line[:2] for line in self.lines()].count(["start", "rollback"]), 1)


class Recover(Rig):
    def test_a_coordinator_that_lives_is_left_alone(self):
        coordinator = self.begin()
        coordinator.send_signal(signal.SIGSTOP)
        result = self.recover()
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("lives: left alone", result.stdout)
        coordinator.send_signal(signal.SIGCONT)
        self.assertEqual(coordinator.wait(PATIENCE_S), 0)
        self.check_rolled_back()

    def test_words_that_are_wrong(self):
        for words, said in ((["r9", "--store", self.store], "run r9 owes no rollback"),
                            (["--store", self.folder / "no"], "no store in")):
            result = subprocess.run([BIN / "plimsoll", "recover", *words], capture_output=True,
                                    text=True, timeout=PATIENCE_S, check=False)
            self.assertEqual(result.returncode, 64)
            self.assertIn(said, result.stderr)

    def test_a_store_without_anything_owed(self):
        result = self.recover()
        self.assertEqual((result.returncode, result.stdout), (0, "no rollback is owed\n"))

    def test_an_intent_that_cannot_be_read(self):
        (self.store / "intents").mkdir()
        (self.store / "intents/r1.json").write_text("{")
        result = self.recover()
        self.assertEqual(result.returncode, 6)
        self.assertIn("cannot be rolled back", result.stdout)
        self.assertTrue(re.search("roll back by hand", result.stdout))


class KeptInTheStore(RigCase):
    """A real run that is killed; beside it, under its id, hooks as it would have them."""

    def recover(self):
        code, process = self.command("recover", "--store", self.store)
        return code, process.text()

    def test_what_a_guardian_did_is_in_runs_show(self):
        gateway = self.gateway()
        run = self.start_run(self.scenario(gateway.url, measure="40s"))
        run.wait_line(r"step 1: 4 sessions")
        code, said = self.recover()
        self.assertEqual(code, 0, said)
        self.assertIn("the store does not say so yet", said)
        os.kill(run.pid, signal.SIGKILL)
        self.assert_gone([run.pid])
        run_id = self.command("runs", "list", "--store", self.store)[1].text().split()[0]
        hooks = self.start("hooked_rig", BIN / "plimsoll", self.store, run_id, "50", "1",
                           "sleep 1000", "echo it is back")
        hooks.wait_line("guarded")
        wait_until(lambda: '"phase": "rollout"' in
                   (pathlib.Path(self.store) / "intents" / f"{run_id}.json").read_text(),
                   "the rollout's start")
        os.kill(hooks.pid, signal.SIGKILL)
        wait_until(lambda: "\"state\": \"rolled back\"" in
                   (pathlib.Path(self.store) / "intents" / f"{run_id}.json").read_text(),
                   "the guardian's rollback")
        code, said = self.recover()
        self.assertEqual(code, 0, said)
        self.assertFalse(list((pathlib.Path(self.store) / "intents").iterdir()))
        listed = self.command("runs", "list", "--store", self.store)[1].text()
        self.assertIn("interrupted", listed)
        shown = self.command("runs", "show", run_id, "--store", self.store)[1].text()
        for words in ("INTERRUPTED: its coordinator died", "rollout (attempt 1) was ended by us",
                      "rollback (attempt 1) ended well", "rolled back"):
            self.assertIn(words, shown)
        report = json.loads(
            self.command("runs", "show", run_id, "--json", "--store", self.store)[1].text("out"))
        self.assertEqual(report["rollback"], "done")
        self.assertEqual(report["hooks"][1]["output"], "it is back\n")


if __name__ == "__main__":
    unittest.main()
