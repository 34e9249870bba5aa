"""Progress as a person sees it: on a terminal (a pseudo one, its screen replayed), and in a log."""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import termios
import time

from rig import BIN, PATIENCE_S, RigCase, wait_until


class Screen:
    """The few control sequences that the block uses, applied; any other fails the test."""

    def __init__(self, columns):
        self.columns = columns
        self.rows = [""]
        self.at = 0  # Row of the cursor.
        self.column = 0

    def feed(self, text):
        for token in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b.|.|\n", text, re.S):
            self.apply(token)

    def apply(self, token):
        if token == "\r":
            self.column = 0
        elif token == "\n":
            self.at += 1
            if self.at == len(self.rows):
                self.rows.append("")
        elif match := re.fullmatch(r"\x1b\[(\d+)A", token):
            self.at = max(0, self.at - int(match[1]))
        elif token == "\x1b[J":
            self.rows = self.rows[: self.at] + [self.rows[self.at][: self.column]]
        elif re.fullmatch(r"\x1b\[[0-9;]*m", token):
            pass
        elif token.startswith("\x1b"):
            raise AssertionError(f"an escape sequence that nobody expects: {token!r}")
        else:
            row = self.rows[self.at].ljust(self.column)
            self.rows[self.at] = row[: self.column] + token + row[self.column + 1:]
            self.column += 1

    def text(self):
        return "\n".join(self.rows)


class Terminal:
    """A program whose terminal is a pseudo one of ours."""

    def __init__(self, case, argv, columns=100, env=None):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))

        def own_the_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        whole = {**os.environ, "TERM": "xterm-256color", **(env or {})}
        whole = {key: value for key, value in whole.items() if value is not None}
        self.popen = subprocess.Popen(
            [str(arg) for arg in argv], cwd=case.folder, stdin=slave, stdout=slave, stderr=slave,
            env=whole, preexec_fn=own_the_terminal)
        os.close(slave)
        self.raw = ""
        self.blocks = []  # What stood on the screen after each reading.
        self.screen = Screen(columns)
        case.addCleanup(self.end)

    def read(self, timeout_s):
        """False once nothing can come any more."""
        ready, _, _ = select.select([self.master], [], [], timeout_s)
        if not ready:
            return True
        try:
            data = os.read(self.master, 1 << 16)
        except OSError:
            return False
        text = data.decode(errors="replace")
        self.raw += text
        self.screen.feed(text)
        self.blocks.append(self.screen.text())
        return bool(data)

    def until(self, condition, what):
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > deadline or not self.read(0.2):
                raise AssertionError(f"never {what}; the screen:\n{self.screen.text()}")

    def wait_exit(self):
        deadline = time.monotonic() + PATIENCE_S
        while self.read(0.2):
            if self.popen.poll() is not None and not select.select([self.master], [], [], 0)[0]:
                break
            if time.monotonic() > deadline:
                raise AssertionError(f"it does not end; the screen:\n{self.screen.text()}")
        return self.popen.wait(PATIENCE_S)

    def type(self, keys):
        os.write(self.master, keys)

    def hang_up(self):
        os.close(self.master)
        self.master = None

    def end(self):
        if self.popen.poll() is None:
            try:
                children = open(f"/proc/{self.popen.pid}/task/{self.popen.pid}/children").read()
            except OSError:
                children = ""
            for pid in [*map(int, children.split()), self.popen.pid]:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        self.popen.wait()
        if self.master is not None:
            os.close(self.master)


class OnATerminal(RigCase):
    def start_on_terminal(self, scenario, *flags, **kwargs):
        argv = [BIN / "plimsoll", "run", scenario, "--store", self.store, "--json", self.json,
                *flags]
        return Terminal(self, argv, **kwargs)

    def test_a_block_is_redrawn_and_gone_at_the_end(self):
        run = self.start_on_terminal(self.scenario(self.gateway().url))
        code = run.wait_exit()
        self.assertIn(code, (0, 3), run.screen.text())
        seen = "\n".join(run.blocks)
        for words in (r"step 1 of 1: 4 sessions", r"measuring, \d\S* of 6s", r"\[#+-+\]",
                      r"lanes 4 of 4 · \d+ requests in flight · agents 2 of 2",
                      r"TTFT P50 +\S+ s +limit 5 s +\d+ calls", r"errors +\d", r"to go"):
            self.assertRegex(seen, words)
        end = run.screen.text()
        for words in ("requests in flight · agents", "to go", "[#", "Ctrl-C"):
            self.assertNotIn(words, end, "nothing of the block is left")
        self.assertRegex(end, r"(?m)^(PASS|NO DATA) ")
        # Drawn in place: what is on the screen at the end was written once, the block many times.
        self.assertGreater(run.raw.count("lanes 4 of 4"), 3)
        self.assertNotIn("?25l", run.raw, "the cursor is never hidden, so it cannot stay so")
        self.assertIn("\x1b[32m", run.raw, "colours on a terminal")

    def talkative(self, before, after="exec $REAL \"$@\""):
        """A folder of programs whose agent says something of its own: a script that goes on as the
        real one."""
        folder = self.folder / "bin"
        folder.mkdir()
        shutil.copy2(BIN / "plimsoll", folder / "plimsoll")
        agent = folder / "plimsoll-agent"
        agent.write_text(f"#!/bin/sh\nREAL={(BIN / 'plimsoll-agent').resolve()}\n{before}\n{after}\n")
        agent.chmod(0o755)
        return folder / "plimsoll"

    def test_lines_of_local_agents_stand_whole_above_the_block(self):
        plimsoll = self.talkative(
            "(i=0; while [ $i -lt 60 ]; do echo \"mind the gap $i\" >&2; i=$((i+1)); sleep 0.1;"
            "done) &")
        run = Terminal(self, [plimsoll, "run", self.scenario(self.gateway().url), "--store",
                              self.store, "--json", self.json])
        code = run.wait_exit()
        self.assertIn(code, (0, 3), run.screen.text())
        end = run.screen.text()
        self.assertIn("measuring, ", "\n".join(run.blocks))
        for agent in ("local-00.1", "local-01.2"):
            said = re.findall(rf"(?m)^ *\d+\.\d s  {agent}: mind the gap (\d+)$", end)
            self.assertEqual(said, [str(i) for i in range(60)], end)
        self.assertEqual(end.count("mind the gap"), 120, "nothing beside")
        for words in ("requests in flight · agents", "to go", "[#", "Ctrl-C"):
            self.assertNotIn(words, end, "nothing of the block is left")

    def test_what_a_crashed_agent_said_last_is_on_the_screen(self):
        plimsoll = self.talkative("printf 'went aground\\033[2J' >&2", "kill -SEGV $$")
        run = Terminal(self, [plimsoll, "run", self.scenario(self.gateway().url), "--store",
                              self.store])
        self.assertEqual(run.wait_exit(), 4, run.screen.text())
        end = run.screen.text()
        self.assertRegex(end, r"(?m)^ *\d+\.\d s  local-0\d\.\d: went aground\\x1b\[2J$")
        self.assertIn("was killed by signal 11", " ".join(end.split()))

    def test_no_color_and_dumb_terminals(self):
        plain = self.start_on_terminal(self.scenario(self.gateway().url, measure="2s"),
                                       env={"NO_COLOR": "1"})
        plain.wait_exit()
        self.assertNotRegex(plain.raw, r"\x1b\[\d*m")
        self.assertIn("\x1b[J", plain.raw)
        dumb = self.start_on_terminal(self.scenario(self.gateway().url, measure="2s"),
                                      env={"TERM": "dumb"})
        dumb.wait_exit()
        self.assertNotIn("\x1b", dumb.raw)
        self.assertIn("measuring, ", dumb.raw)

    def test_ctrl_c_drains_leaves_the_terminal_clean_and_reports(self):
        run = self.start_on_terminal(self.scenario(self.gateway().url, measure="40s"))
        run.until(lambda: re.search(r"measuring, [2-9]", run.screen.text()), "measuring")
        run.type(b"\x03")
        code = run.wait_exit()
        self.assertEqual(code, 5, run.screen.text())
        end = run.screen.text()
        self.assertIn("stopping: calls in flight may finish", end)
        self.assertRegex(end, r"(?m)^STOPPED: stopped by a signal")
        self.assertRegex(" ".join(end.split()), r"stopped after \S+ of 40s")
        self.assertNotIn("[#", end)
        self.assertNotIn("^C", end)

    def test_a_terminal_that_is_closed_is_a_first_stop(self):
        run = self.start_on_terminal(self.scenario(self.gateway().url, measure="40s"))
        run.until(lambda: "measuring, " in run.screen.text(), "measuring")
        run.hang_up()
        self.assertEqual(run.popen.wait(PATIENCE_S), 5)
        self.assertIsNotNone(self.report()["steps"][0]["stopped_after_s"])

    def test_a_terminal_that_is_held_with_ctrl_s_holds_nothing_but_itself(self):
        # Longer than agents wait for a coordinator that is silent.
        run = self.start_on_terminal(self.scenario(self.gateway().url, measure="18s"))
        run.until(lambda: "measuring, " in run.screen.text(), "measuring")
        run.type(b"\x13")
        # Nobody reads, and the run ends: its report is written, and printed where it can be.
        wait_until(lambda: self.json.exists() and self.json.stat().st_size > 0, "a report",
                   PATIENCE_S)
        self.assertIsNone(run.popen.poll(), "it still has something to say")
        run.type(b"\x11")
        code = run.wait_exit()
        end = run.screen.text()
        self.assertIn(code, (0, 3), end)
        report = self.report()
        self.assertEqual(len(report["steps"]), 1, end)
        self.assertFalse(any(agent["lost"] for agent in report["steps"][0]["agents"]), end)
        for words in ("is lost", "[#", "to go"):
            self.assertNotIn(words, end)
        self.assertRegex(end, r"(?m)^(PASS|NO DATA) ")

    def test_a_narrow_terminal_gets_one_line(self):
        run = self.start_on_terminal(self.scenario(self.gateway().url, measure="2s"), columns=40)
        run.wait_exit()
        self.assertRegex(run.raw, r"1/1 4 sessions measuring")
        self.assertNotIn("requests in flight · agents", run.raw)


class InALog(RigCase):
    def test_plain_lines_at_what_changes_and_every_fifteen_seconds(self):
        run = self.start_run(self.scenario(self.gateway().url, measure="20s"))
        run.wait_exit()
        text = run.text("err")
        self.assertNotIn("\x1b", text)
        lines = [line[10:].strip() for line in text.splitlines()]
        wanted = (r"step 1: 4 sessions", r"warm-up, \S+ left", r"measuring, \S+ left",
                  r"measuring, 1[5-9]s of 20s: 4 of 4 lanes, \d+ in flight; TTFT P50 .* n \d+\)",
                  r"4 sessions: ")
        at = 0
        for pattern in wanted:
            found = [i for i in range(at, len(lines)) if re.match(pattern, lines[i])]
            self.assertTrue(found, f"{pattern} after line {at}:\n{text}")
            at = found[0] + 1
