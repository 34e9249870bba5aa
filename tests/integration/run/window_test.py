"""Windows: a queue that `plimsoll serve` runs, on a gateway that is there."""

import datetime
import signal
import urllib.request

from people_test import Receiver
from rig import RigCase, alive, wait_until


def clock(offset_min):
    """The time of day in UTC, so many minutes from now: HH:MM."""
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=offset_min)
    return at.strftime("%H:%M")


class QueueCase(RigCase):
    def add(self, scenario, *, opens=-30, closes=90, length="60m", flags=()):
        code, added = self.command(
            "window", "add", scenario, "--between", f"{clock(opens)}-{clock(closes)} UTC",
            "--length", length, "--store", self.store, *flags)
        self.assertEqual(code, 0, added.text())
        return added.text("out").split(":")[0].removeprefix("window ")

    def listed(self):
        code, listed = self.command("window", "list", "--store", self.store)
        self.assertEqual(code, 0, listed.text())
        return listed.text("out")

    def serve(self, **kwargs):
        serve = self.start("plimsoll", "serve", "--store", self.store, "--http", "127.0.0.1:0",
                           **kwargs)
        serve.http = serve.wait_line(r"on (http://\S+)")[1]
        return serve

    def wait_listed(self, text):
        return wait_until(lambda: self.listed() if text in self.listed() else None,
                          f"'{text}' in the list", 120)


class QueueOfWindows(QueueCase):
    def test_runs_what_fits_and_says_what_does_not(self):
        scenario = self.scenario(self.gateway().url, sessions=[2], target=2, measure="4s")
        fits = self.add(scenario)
        hook = Receiver(failures=1)
        self.addCleanup(hook.close)
        told = self.write("told.yaml", scenario.read_text() + (
            "notify: {url: {env: PLIMSOLL_TEST_HOOK}, form: json, on: [window_missed]}\n"))
        late = self.add(told, opens=-80, closes=10)
        self.assertNotEqual(fits, late)
        self.assertIn("nobody runs this queue", self.listed())
        serve = self.serve(env={"PLIMSOLL_TEST_HOOK": hook.url})
        serve.wait_line(f"{fits}: started")
        self.assertNotIn("nobody runs this queue", self.wait_listed("running now"))
        serve.wait_line(f"{late}: .* missed: it was added with")
        serve.wait_line(f"{late}: notify: window_missed to .*: delivered at attempt 2")
        self.assertEqual(hook.seen[1]["event"], "window_missed")
        self.assertIn("it was added with", hook.seen[1]["text"])
        self.assertNotIn("SECRET", serve.text())
        done = serve.wait_line(rf"{fits}: run (\S+), exit (\d)")
        self.assertLess(int(done[2]), 4, serve.text())
        code, runs = self.command("runs", "list", "--store", self.store)
        self.assertEqual(code, 0, runs.text())
        self.assertIn(done[1], runs.text("out"))
        self.assertEqual(runs.text("out").count("finished, exit"), 1, runs.text())
        text = self.wait_listed("1 run, 0 missed")
        self.assertIn("0 run, 1 missed", text)
        self.assertIn("missed: it was added with", text)
        with urllib.request.urlopen(f"{serve.http}/api/v1/runs") as page:
            self.assertIn(done[1], page.read().decode())
        serve.popen.send_signal(signal.SIGTERM)
        self.assertEqual(serve.wait_exit(), 0)

    def test_a_server_that_ends_stops_its_run_by_the_protocol(self):
        scenario = self.scenario(self.gateway().url, sessions=[2], target=2, measure="600s")
        window = self.add(scenario, flags=["--once"])
        serve = self.serve()
        serve.wait_line(f"{window}: started")
        log = self.store / "windows" / f"{window}-1.log"
        wait_until(lambda: log.exists() and "step 1: 2 sessions" in log.read_text(),
                   "the first step", 120)
        children = serve.children()
        self.assertEqual(len(children), 1)
        # It goes on meanwhile, and is seen.
        code, runs = self.command("runs", "list", "--store", self.store)
        self.assertRegex(runs.text("out"), r"(?m)UTC  running$")
        second = self.serve()
        second.wait_line("another server of this store runs its queue")
        second.popen.send_signal(signal.SIGTERM)
        self.assertEqual(second.wait_exit(), 0)
        self.assertTrue(alive(children[0]), "it was not the second's to stop")
        serve.popen.send_signal(signal.SIGTERM)
        self.assertEqual(serve.wait_exit(120), 0)
        self.assert_gone(children)
        self.assertIn("STOPPED", log.read_text())
        text = self.listed()
        self.assertIn("exit 5", text)
        self.assertIn("done: it had its one run", text)

    def test_a_run_that_overstays_is_told_to_drain_in_time_for_its_rollback(self):
        scenario = self.scenario(self.gateway().url, sessions=[2], target=2, measure="20s")
        # Of what a run keeps for its end by itself less is wanted here: it is told from outside.
        window = self.add(scenario, length="90s", flags=["--reserve", "70s", "--once"])
        serve = self.serve()
        serve.wait_line(f"{window}: started")
        serve.wait_line(f"{window}: its time is over but for the rollback's: it drains", 120)
        serve.wait_line(rf"{window}: run \S+, exit 5", 120)

    def test_one_that_holds_no_step_is_not_queued(self):
        scenario = self.scenario("http://127.0.0.1:1/v1", measure="600s")
        code, added = self.command("window", "add", scenario, "--between", "00:00-24:00 UTC",
                                   "--length", "5m", "--store", self.store)
        self.assertEqual(code, 64, added.text())
        self.assertIn("the window of 4m55s is too short", added.text())

    def test_a_server_that_dies_takes_its_run_along_and_the_next_says_so(self):
        scenario = self.scenario(self.gateway().url, sessions=[2], target=2, measure="600s")
        window = self.add(scenario)
        serve = self.serve()
        serve.wait_line(f"{window}: started")
        children = wait_until(serve.children, "its run")
        serve.popen.send_signal(signal.SIGKILL)
        serve.popen.wait()
        self.assert_gone(children)
        again = self.serve()
        again.wait_line(f"{window}: broken off: the server that ran it died")
        again.wait_line("this server runs the queue")
        text = self.wait_listed("broken off")
        self.assertIn("1 run, 0 missed", text)
        self.assertNotIn("running now", text)
        self.assertNotIn(f"{window}: started", again.text(), "an opening is not run twice")

    def test_a_scenario_that_changed_is_refused_unless_followed(self):
        text = self.scenario("http://127.0.0.1:9/v1").read_text()
        one = self.write("one.yaml", text)
        two = self.write("two.yaml", text)
        refused = self.add(one)
        followed = self.add(two, flags=["--follow", "--once"])
        for path in (one, two):
            path.write_text(text + "# changed\n")
        serve = self.serve()
        serve.wait_line(f"{refused}: .* missed: its scenario is not the one that was added")
        serve.wait_line(f"{followed}: its scenario has changed since it was added; it is followed")
        # Nobody listens where it points: preflight says so, and the queue goes on.
        serve.wait_line(rf"{followed}: run \S+, exit 4")
        serve.popen.send_signal(signal.SIGTERM)
        self.assertEqual(serve.wait_exit(), 0)

    def test_a_run_by_hand_holds_the_fleet(self):
        url = self.gateway().url
        by_hand = self.start_run(self.scenario(url, sessions=[2], target=2, measure="600s"))
        run_id = by_hand.wait_line(r"run (\S+) \(seed")[1]
        window = self.add(self.scenario(url, name="queued", sessions=[2], target=2, measure="4s"))
        serve = self.serve()
        serve.wait_line("this server runs the queue")
        by_hand.wait_line("step 1: 2 sessions")
        self.assertNotIn(f"{window}: started", serve.text())
        by_hand.popen.send_signal(signal.SIGINT)
        by_hand.wait_exit(120)
        serve.wait_line(f"{window}: started")
        serve.wait_line(rf"{window}: run (?!{run_id})\S+, exit", 120)


class QueueWords(QueueCase):
    def test_list_and_cancel(self):
        scenario = self.scenario("http://127.0.0.1:9/v1")
        window = self.add(scenario)
        text = self.listed()
        for part in (window, str(scenario), "1h (6m of it for the rollback), daily", "next: now",
                     "0 run, 0 missed"):
            self.assertIn(part, text)
        code, cancel = self.command("window", "cancel", window[:12], "--store", self.store)
        self.assertEqual(code, 0, cancel.text())
        self.assertEqual(self.listed(), "no windows")
        code, cancel = self.command("window", "cancel", window, "--store", self.store)
        self.assertEqual(code, 64)
        self.assertIn("there is no window", cancel.text())

    def test_what_is_wrong_is_said(self):
        scenario = self.scenario("http://127.0.0.1:9/v1")
        broken = self.write("broken.yaml", scenario.read_text().replace("mix:", "mixx:"))

        def refused(path, between, *flags):
            code, add = self.command("window", "add", path, "--between", between, *flags,
                                     "--store", self.store)
            self.assertEqual(code, 64, add.text())
            return add.text("err")

        self.assertIn("22:00-06:00 Europe/Berlin", refused(scenario, "tonight", "--length", "1h"))
        self.assertIn("is no time zone", refused(scenario, "22:00-06:00 Mars/Base", "--length", "1h"))
        self.assertIn("never be started", refused(scenario, "22:00-23:00 UTC", "--length", "2h"))
        self.assertIn("--length", refused(scenario, "22:00-23:00 UTC", "--length", "60"))
        self.assertIn("weekdays", refused(scenario, "22:00-23:00 UTC", "--length", "1h", "--on", "x"))
        self.assertIn("leaves nothing", refused(
            scenario, "22:00-23:00 UTC", "--length", "1h", "--reserve", "1h"))
        self.assertIn("mixx", refused(broken, "22:00-23:00 UTC", "--length", "1h"))
        self.assertFalse((self.store / "windows").exists(), "nothing was queued")

    def test_a_damaged_entry_is_said_and_can_be_cancelled(self):
        window = self.add(self.scenario("http://127.0.0.1:9/v1"))
        (self.store / "windows" / f"{window}.window").write_bytes(b"\xff\x00nothing")
        self.assertIn("is damaged", self.listed())
        code, cancel = self.command("window", "cancel", window, "--store", self.store)
        self.assertEqual(code, 0, cancel.text())
        self.assertEqual(self.listed(), "no windows")
