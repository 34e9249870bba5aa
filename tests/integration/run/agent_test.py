"""Agents that die, freeze, dial in, or are one too many."""

import os
import signal
import time

from rig import RigCase, alive, wait_until


class AgentCase(RigCase):
    def strike(self, number, **over):
        """Sends a signal to one of two local agents in the first step's measured time."""
        gateway = self.gateway()
        scenario = self.scenario(gateway.url, **over)
        run = self.start_run(scenario)
        run.wait_line(r"step 1: 4 sessions")
        victim = self.victim(gateway, run, calls=90)
        os.kill(victim, number)
        return gateway, run, victim

    def victim(self, gateway, run, calls):
        """An agent, once so many calls were answered: four lanes make some forty a second, and
        warm up for one."""
        self.wait_answered(gateway, calls)
        agents = run.children()
        self.assertEqual(len(agents), 2, run.text())
        return agents[0]

    def check_repeated(self, run, victim):
        code = run.wait_exit(90)
        report = self.report()
        self.assertGreaterEqual(len(report["steps"]), 2, run.text())
        lost, again = report["steps"][:2]
        self.assertEqual([lost["sessions"], again["sessions"]], [4, 4])
        self.assertTrue(lost["void"])
        self.assertEqual(lost["verdict"], "no data")
        self.assertIn("was lost during the step", " ".join(lost["reasons"]))
        self.assertEqual([agent["lost"] for agent in lost["agents"]].count(True), 1)
        self.assertFalse(any(agent["lost"] for agent in again["agents"]))
        self.assertNotIn("repeat", " ".join(lost["notes"]))
        self.assertTrue(again["notes"], "that it was repeated is said")
        self.assertRegex(run.text(), r"another one took its place")
        if not again["void"]:  # Else this machine was too busy, which it says.
            self.assertEqual(again["verdict"], "pass", again["reasons"])
            self.assertEqual(code, 0, run.text())
            self.assert_identities(report)
        else:
            self.assertIn("generator-limited", " ".join(again["reasons"]))
            self.assertEqual(code, 3)
        self.assert_gone([victim])


class KilledAgent(AgentCase):
    def test_step_is_no_data_and_repeated(self):
        _, run, victim = self.strike(signal.SIGKILL)
        self.check_repeated(run, victim)

    def test_a_second_loss_ends_the_run_without_data(self):
        gateway, run, _ = self.strike(signal.SIGKILL)
        run.wait_line(r"step 2: 4 sessions")
        os.kill(self.victim(gateway, run, calls=300), signal.SIGKILL)
        self.assertEqual(run.wait_exit(), 3, run.text())
        self.assertRegex(run.text("out"), r"\ANO DATA")
        self.assertEqual([step["verdict"] for step in self.report()["steps"]], ["no data"] * 2)


class FrozenAgent(AgentCase):
    def test_step_is_no_data_and_repeated(self):
        _, run, victim = self.strike(signal.SIGSTOP, measure="18s", sessions=[4])
        self.check_repeated(run, victim)


class PausedAgent(AgentCase):
    def test_a_pause_too_short_to_lose_it_voids_the_step_which_is_repeated(self):
        _, run, victim = self.strike(signal.SIGSTOP, measure="18s", sessions=[4])
        try:
            time.sleep(2)  # The pause itself; an agent is lost after fifteen seconds.
        finally:
            os.kill(victim, signal.SIGCONT)
        code = run.wait_exit(90)
        steps = self.report()["steps"]
        self.assertGreaterEqual(len(steps), 2, run.text())
        paused, again = steps[:2]
        self.assertEqual([paused["sessions"], again["sessions"]], [4, 4])
        self.assertTrue(paused["void"])
        self.assertEqual(paused["verdict"], "no data")
        self.assertRegex(" ".join(paused["reasons"]),
                         r"generator-limited: agent '\S+''s event loop stood still for \d+ ms")
        self.assertGreater(max(agent["loop_lag_max_ms"] for agent in paused["agents"]), 1500)
        self.assertFalse(any(agent["lost"] for step in steps for agent in step["agents"]))
        self.assertEqual(again["origin"]["kind"], "repeat")
        self.assertNotRegex(run.text(), r"another one took its place")
        if again["void"]:  # This machine was too busy, which it says.
            self.assertIn("generator-limited", " ".join(again["reasons"]))
            self.assertEqual(code, 3, run.text())
        else:
            self.assertEqual(again["verdict"], "pass", again["reasons"])
            self.assertEqual(code, 0, run.text())
        for agent in again["agents"]:
            host = agent["host"]
            self.assertGreater(host["cores_used_max"], 0)
            self.assertGreater(host["cores"], 0)
            self.assertIsNotNone(host["thread_share_max"])
            self.assertGreater(host["descriptors_max"], 3)
            self.assertGreater(host["descriptors_limit"], host["descriptors_max"])
            self.assertGreater(host["ports_limit"], 0)
        self.assert_gone([victim])


class FrozenCoordinator(AgentCase):
    def test_agents_leave_and_the_step_is_repeated_when_it_wakes(self):
        gateway = self.gateway()
        run = self.start_run(self.scenario(gateway.url, measure="12s", sessions=[4]))
        run.wait_line(r"step 1: 4 sessions")
        self.wait_answered(gateway, 90)
        agents = run.children()
        self.assertEqual(len(agents), 2, run.text())
        os.kill(run.pid, signal.SIGSTOP)
        try:
            # Its sockets stay open; they leave by themselves.
            wait_until(lambda: not any(map(alive, agents)), "the end of both agents")
        finally:
            os.kill(run.pid, signal.SIGCONT)
        code = run.wait_exit(90)
        steps = self.report()["steps"]
        self.assertGreaterEqual(len(steps), 2, run.text())
        lost, again = steps[:2]
        self.assertTrue(lost["void"])
        self.assertIn("was lost during the step", " ".join(lost["reasons"]))
        self.assertFalse(any(agent["lost"] for agent in again["agents"]))
        self.assertIn(code, (0, 3), run.text())
        if code == 3:
            self.assertIn("generator-limited", " ".join(again["reasons"]))
        self.assert_gone(agents)


class DialledAgents(RigCase):
    def test_two_dial_in_and_a_third_is_refused_in_words(self):
        gateway = self.gateway()
        scenario = self.scenario(gateway.url, fleet='{agents: 2, listen: "127.0.0.1:0", wait: 30s}')
        run = self.start_run(scenario)
        where = run.wait_line(r"waiting for 2 agents: plimsoll-agent --coordinator (\S+)")[1]
        dial = ("--coordinator", where, "--wait", "20")
        agents = [self.start("plimsoll-agent", *dial, "--name", name) for name in ("a", "b")]
        run.wait_line(r"fleet: 2 agents are here")
        third = self.start("plimsoll-agent", *dial, "--name", "c")
        self.assertEqual(third.wait_exit(), 4, third.text())
        self.assertIn("the fleet is complete with 2 agents", third.text())
        run.wait_line(r"agent c was turned away: the fleet is complete")

        code = run.wait_exit()
        report = self.report()
        names = sorted(agent["name"] for agent in report["steps"][0]["agents"])
        self.assertEqual(names, ["a", "b"])
        self.assertIn(code, (0, 3), run.text())
        if code == 3:
            self.assertIn("generator-limited", run.text())
        self.assertEqual([agent.wait_exit() for agent in agents], [0, 0])

    def test_two_of_one_name_are_refused_in_words(self):
        gateway = self.gateway()
        scenario = self.scenario(gateway.url, fleet='{agents: 2, listen: "127.0.0.1:0", wait: 4s}')
        run = self.start_run(scenario)
        where = run.wait_line(r"--coordinator (\S+)")[1]
        dial = ("--coordinator", where, "--wait", "20", "--name", "same")
        first = self.start("plimsoll-agent", *dial)
        second = self.start("plimsoll-agent", *dial)
        run.wait_line(r"was turned away: an agent named same is already here")
        self.assertEqual(run.wait_exit(), 4, run.text())
        self.assertIn("not all 2 agents came within 4s", run.text("out"))
        for agent in (first, second):
            agent.wait_exit()
            self.assertIn(agent.popen.returncode, (0, 4), agent.text())

    def test_nobody_dials_in(self):
        gateway = self.gateway()
        scenario = self.scenario(gateway.url, fleet='{agents: 1, listen: "127.0.0.1:0", wait: 1s}')
        run = self.start_run(scenario)
        self.assertEqual(run.wait_exit(), 4, run.text())
        self.assertIn("not all 1 agents came within 1s", run.text("out"))

    def test_agent_without_coordinator_gives_up_in_words(self):
        agent = self.start("plimsoll-agent", "--coordinator", "127.0.0.1:9", "--wait", "1")
        self.assertEqual(agent.wait_exit(), 4, agent.text())
        self.assertIn("127.0.0.1:9", agent.text())

    def test_agent_refuses_a_host_that_is_not_allowed(self):
        # An address that reaches loopback and is not written as such: the run's own preflight
        # passes, and the agent must say no by what the plan says.
        gateway = self.gateway()
        port = gateway.url.split(":")[2]
        url = f"http://0.0.0.0:{port}"
        scenario = self.scenario(url, fleet='{agents: 1, listen: "127.0.0.1:0", wait: 20s}')
        run = self.start_run(scenario)
        where = run.wait_line(r"--coordinator (\S+)")[1]
        self.start("plimsoll-agent", "--coordinator", where, "--wait", "20")
        self.assertEqual(run.wait_exit(), 4, run.text())
        self.assertIn("may not send load to 0.0.0.0: start it with --allow 0.0.0.0",
                      " ".join(run.text("out").split()))
