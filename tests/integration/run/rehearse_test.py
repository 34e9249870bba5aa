"""`plimsoll rehearse` as a person starts it: quick rows, a wrong expectation, Ctrl-C."""

import json
import os
import pathlib
import signal

from rig import RigCase, alive, wait_until

WRONG = """\
rows:
  - name: html-holds
    fault: a gateway that speaks HTML, of which somebody expects a pass
    gateway: {html: "true"}
    expect: {exit: 0, verdicts: [pass]}
  - name: html-blocks
    gateway: {html: "true"}
    expect: {exit: 4, words: [preflight blocks]}
"""


class Rehearse(RigCase):
    def rehearse(self, *words):
        """(exit code, the process, its results)."""
        path = self.folder / "results.json"
        code, process = self.command(
            "rehearse", *words, "--json", path, timeout_s=280)
        return code, process, json.loads(path.read_text())

    def start(self, program, *argv, **kwargs):
        # Whatever it leaves in its temporary folder is seen.
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir(exist_ok=True)
        return super().start(program, *argv, env={"TMPDIR": str(self.temporary)}, **kwargs)

    def test_three_rows_give_their_verdicts(self):
        rows = ["gateway-gone", "gateway-html", "refused-from-start"]
        code, process, results = self.rehearse(*rows)
        self.assertEqual(code, 0, process.text())
        self.assertEqual([row["name"] for row in results["rows"]], rows)
        for row in results["rows"]:
            self.assertEqual((row["state"], row["got"]), ("ok", "could not run, exit 4"), row)
            self.assertIn("preflight blocks", row["why"])
        text = process.text("out")
        self.assertRegex(text, r"\Afault +expected +got +why\n")
        self.assertIn("3 of 3 faults gave the verdict that they must", text)
        self.assertIn("plimsoll-gateway ", process.text("err"))
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_a_wrong_expectation_is_exit_code_1(self):
        code, process, results = self.rehearse("--rows", self.write("rows.yaml", WRONG), "--keep")
        self.assertEqual(code, 1, process.text())
        self.assertEqual([row["state"] for row in results["rows"]], ["WRONG", "ok"])
        self.assertEqual(results["rows"][0]["got"], "could not run, exit 4")
        self.assertIn("1 did not: html-holds", " ".join(process.text("out").split()))
        # What it says is kept is there.
        kept = pathlib.Path(process.wait_line(r"^kept: (.*)")[1])
        self.assertIn("preflight blocks", (kept / "html-holds" / "said.txt").read_text())

    def test_ctrl_c_leaves_nothing(self):
        process = self.start("plimsoll", "rehearse", "agent-killed", "gateway-crash")
        wait_until(lambda: len(process.children()) >= 4, "two gateways and two runs")
        children = process.children()
        os.kill(process.pid, signal.SIGINT)
        self.assertEqual(process.wait_exit(), 5, process.text())
        self.assertFalse([pid for pid in children if alive(pid)])
        self.assertEqual(list(self.temporary.iterdir()), [])
        self.assertIn("Stopped by a signal", process.text("out"))

    def test_words(self):
        code, process = self.command("rehearse", "--list")
        self.assertEqual(code, 0, process.text())
        self.assertRegex(process.text("out"), r"(?m)^agent-frozen +SIGSTOP to an agent")
        code, process = self.command("rehearse", "agent-frozn")
        self.assertEqual(code, 64, process.text())
        self.assertIn("did you mean 'agent-frozen'?", process.text())
        code, process = self.command("rehearse", "--rows", self.write("bad.yaml", "rows: 3"))
        self.assertEqual(code, 64, process.text())
        self.assertIn("bad.yaml:1: rows: takes a list", process.text())
