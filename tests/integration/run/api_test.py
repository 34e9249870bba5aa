"""The results API: while a run goes on, after it, and what its records look like outside."""

import csv
import io
import json
import socket
import subprocess
import urllib.error
import urllib.request

from rig import BIN, RigCase, wait_until


def get(address, path, accept="application/json"):
    """(status, body) of a page."""
    request = urllib.request.Request(f"http://{address}{path}", headers={"Accept": accept})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def events(address, run_id):
    """Server-sent events of a run, to the end of the answer: (name, data) each."""
    url = f"http://{address}/api/v1/runs/{run_id}/watch"
    with urllib.request.urlopen(url, timeout=120) as answer:
        name = None
        for line in answer:
            line = line.decode().rstrip("\n")
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                yield name, json.loads(line.removeprefix("data: "))


class WatchedRun(RigCase):
    def test_watch_then_serve_then_export(self):
        run = self.start_run(
            self.scenario(self.gateway().url, sessions=[3, 4], target=3, measure="4s"))
        address = run.wait_line(r"results API on http://(\S+)")[1]
        run_id = run.wait_line(r"run (\S+) \(seed")[1]

        # A reader that never reads, which the run must not notice.
        deaf = socket.create_connection(tuple(address.rsplit(":", 1)))
        self.addCleanup(deaf.close)
        deaf.sendall(f"GET /api/v1/runs/{run_id}/watch HTTP/1.1\r\nHost: x\r\n\r\n".encode())

        seen = []
        asked = False
        for name, data in events(address, run_id):
            seen.append((name, data))
            if name == "live" and data["live"]["phase"] == "PHASE_STEP" and not asked:
                asked = True
                self.check_beside_the_run(address, run_id)
        code = run.wait_exit()
        self.assertTrue(asked, run.text())
        self.check_events(seen, run_id, code)
        self.assertFalse((self.store / "coordinator.json").exists())
        report = self.report()  # Before another run of the test replaces it.
        self.check_served(run_id, code)
        self.check_exported(run_id, report)

    def check_beside_the_run(self, address, run_id):
        code, listed = self.command("runs", "list", "--store", self.store)
        self.assertEqual(code, 0, listed.text())
        self.assertRegex(listed.text(), run_id + r" .* UTC  running")
        code, agents = self.command("agents", "--store", self.store)
        self.assertEqual(code, 0, agents.text())
        self.assertRegex(agents.text(), r"agent +slot +cores +memory +lanes +in flight +silent")
        self.assertEqual(agents.text().count("alive"), 2, agents.text())
        code, unknown = self.command("runs", "show", "nope", "--store", self.store)
        self.assertEqual(code, 64)
        self.assertIn(f"the latest are {run_id}", unknown.text())
        code, shown = self.command("runs", "show", run_id, "--store", self.store)
        self.assertEqual(code, 0, shown.text())
        self.assertRegex(shown.text(), r"(?m)^now {8}\S")
        status, body = get(address, f"/api/v1/runs/{run_id}")
        self.assertEqual(status, 200)
        findings = json.loads(body)["preflight"]["findings"]
        self.assertTrue(any("usage" in finding["text"] for finding in findings), findings)
        status, page = get(address, "/metrics")
        self.assertEqual(status, 200)
        self.assertIn("plimsoll_run_live 1\n", page)
        self.assertIn("plimsoll_agents_alive 2\n", page)

    def check_events(self, seen, run_id, code):
        names = [name for name, _ in seen]
        self.assertEqual(names[0], "run")
        self.assertEqual(names[-2:], ["run", "end"])
        self.assertIn("live", names)
        # Once before preflight was over, or with its findings at once; and always at the end.
        whole = [data["run"] for name, data in seen if name == "run"]
        self.assertIn("preflight", whole[-2])
        first, last = seen[0][1]["run"], seen[-2][1]["run"]
        steps = [s["step"] for s in first["steps"]]
        steps += [data["step"]["step"] for name, data in seen if name == "step"]
        self.assertEqual(steps, [s["step"] for s in last["steps"]])
        self.assertEqual(last["summary"]["id"], run_id)
        self.assertEqual(last["summary"]["state"], "RUN_STATE_FINISHED")
        self.assertEqual(last["summary"]["exit_code"], code)
        self.assertEqual(len(last["steps"]), len(self.report()["steps"]))

    def check_served(self, run_id, code):
        serve = self.start(
            "plimsoll", "serve", "--store", self.store, "--http", "127.0.0.1:0", "--grpc",
            "127.0.0.1:0")
        address = serve.wait_line(r"on http://(\S+)")[1]
        serve.wait_line(r"on gRPC (\S+)")
        status, body = get(address, f"/api/v1/runs/{run_id}")
        self.assertEqual(status, 200)
        run = json.loads(body)
        report = self.report()
        self.assertEqual(run["summary"]["exit_code"], code)
        self.assertEqual(run["summary"]["capacity"]["sentence"], report["capacity"]["sentence"])
        self.assertEqual(
            [step["errors"]["attempts"] for step in run["steps"]],
            [str(step["attempts"]) for step in report["steps"]])
        self.assertEqual([name for name, _ in events(address, run_id)], ["run", "end"])
        status, body = get(address, "/api/v1/runs/none")
        self.assertEqual((status, json.loads(body)["code"]), (404, "NOT_FOUND"))

        # A second server of the same store, and a run that shows in both as it happens.
        other = self.start("plimsoll", "serve", "--store", self.store, "--http", "127.0.0.1:0")
        addresses = [address, other.wait_line(r"on http://(\S+)")[1]]
        again = self.start_run(self.scenario("http://127.0.0.1:9/v1", name="again"))
        self.assertEqual(again.wait_exit(), 4)  # Nobody listens there: preflight blocks.
        for one in addresses:
            wait_until(lambda: "-again" in get(one, "/api/v1/runs?limit=1")[1], "the new run")
        for server in (serve, other):
            server.popen.terminate()
            self.assertEqual(server.wait_exit(), 0)

    def check_exported(self, run_id, report):
        code, steps = self.command("runs", "export", run_id, "--steps", "jsonl", "--store",
                                   self.store)
        self.assertEqual(code, 0, steps.text())
        lines = [json.loads(line) for line in steps.text("out").splitlines()]
        self.assertEqual([s["attempts"] for s in lines], [s["attempts"] for s in report["steps"]])
        self.assertEqual([s["tokens_out"] for s in lines],
                         [s["tokens_out"] for s in report["steps"]])

        out = self.folder / "records.csv"
        code, agents = self.command("runs", "export", run_id, "--agents", "jsonl", "--store",
                                    self.store)
        self.assertEqual(code, 0, agents.text())
        rows = [json.loads(line) for line in agents.text("out").splitlines()]
        told = [agent for step in report["steps"] for agent in step["agents"]]
        for key, of in (("agent", lambda a: a["name"]), ("attempts", lambda a: a["attempts"]),
                        ("descriptors_max", lambda a: a["host"]["descriptors_max"])):
            self.assertEqual([row[key] for row in rows], [of(agent) for agent in told])
        code, exported = self.command("runs", "export", run_id, "--records", "csv", "--store",
                                      self.store, "--out", out)
        self.assertEqual((code, exported.text()), (0, ""))
        rows = list(csv.DictReader(io.StringIO(out.read_text())))
        order = [(int(r["agent_slot"]), int(r["incarnation"]), int(r["sequence"])) for r in rows]
        self.assertEqual(order, sorted(order))
        for step in report["steps"]:
            measured = [r for r in rows
                        if r["step"] == str(step["step"]) and r["released_in"] == "measured"]
            self.assertEqual(len(measured), step["attempts"])
        for row in rows:
            self.assertGreaterEqual(int(row["end_ns"]), int(row["released_ns"]))

    def test_a_reader_that_leaves_ends_an_export_quietly(self):
        run = self.start_run(self.scenario(self.gateway().url, sessions=[4], measure="4s"))
        run.wait_exit()
        run_id = run.wait_line(r"run (\S+) \(seed")[1]
        export = subprocess.Popen(
            [BIN / "plimsoll", "runs", "export", run_id, "--records", "jsonl", "--store",
             self.store], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        export.stdout.close()
        self.assertEqual(export.stderr.read(), b"")
        export.stderr.close()
        self.assertEqual(export.wait(60), 0)


class DeadCoordinatorsFile(RigCase):
    def test_a_killed_coordinators_file_is_ignored(self):
        run = self.start_run(self.scenario(self.gateway().url, measure="60s"))
        run_id = run.wait_line(r"run (\S+) \(seed")[1]
        run.wait_line(r"fleet: 2 agents are here")
        run.popen.kill()
        run.popen.wait()
        self.assertTrue((self.store / "coordinator.json").exists())
        code, agents = self.command("agents", "--store", self.store)
        self.assertEqual(code, 0)
        self.assertIn("no run is going on", agents.text())
        code, listed = self.command("runs", "list", "--store", self.store)
        self.assertEqual(code, 0, listed.text())
        self.assertRegex(listed.text(), run_id + r".*broken off: its coordinator died")


class BadWords(RigCase):
    def test_each_is_one_sentence(self):
        scenario = self.scenario("http://127.0.0.1:9/v1")
        for words, says in (
            (("serve", "--store", self.store), "there is no store yet"),
            (("serve", "--http", "0.0.0.0:1"), "there is no store yet"),
            (("serve", "--http", "off"), "nothing to serve on"),
            (("run", scenario, "--http", "0.0.0.0:0"), "loopback only"),
            (("run", scenario, "--grpc", "here"), "--grpc"),
            (("runs", "export", "x", "--store", self.store, "--steps", "csv"), "no store yet"),
            (("runs", "export", "x"), "--steps"),
            (("runs", "export", "x", "--steps", "csv", "--records", "csv"), "--steps"),
            (("runs", "export", "x", "--steps", "xml"), "xml"),
            (("runs", "list", "--limit", "0"), "--limit"),
            (("agents", "now"), "now"),
        ):
            with self.subTest(words=words):
                code, process = self.command(*words)
                self.assertEqual(code, 64, process.text())
                self.assertIn(says, process.text("err"))
        agent = self.start("plimsoll-agent", "--coordinator", "127.0.0.1:9", "--metrics",
                           "0.0.0.0:0")
        self.assertEqual(agent.wait_exit(), 64)
        self.assertIn("loopback only", agent.text())
