"""Real processes of the rig under test: starting, watching and surely ending them.

Nothing here sleeps for a fixed time: every wait has a condition and a deadline.
"""

import ctypes
import http.server
import json
import os
import pathlib
import re
import signal
import socketserver
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request

BIN = pathlib.Path(os.environ.get("PLIMSOLL_BIN_DIR", "build/dev/bin"))
# Beyond what a busy machine under a sanitizer needs; only a hang meets it.
PATIENCE_S = 60

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


def wait_until(condition, what, timeout_s=PATIENCE_S):
    """Returns the first true value of condition(); fails once the deadline has passed."""
    deadline = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout_s} s: {what}")
        time.sleep(0.02)


def machine_was_busy(run):
    """Whether a run that has ended says that its agents could not keep up: nothing is to be
    learned from it, but from another one."""
    return "generator-limited" in run.text() or "of the planned load was offered" in run.text()


def alive(pid):
    """Whether the process runs; a zombie does not."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] not in "ZX"


class Process:
    """One program with its output lines, ended with the test at the latest."""

    def __init__(self, *argv, cwd, env=None, before_exec=None):
        self.name = pathlib.Path(argv[0]).name
        self.lines = []  # (monotonic instant, stream, text)
        self._news = threading.Condition()
        self.popen = subprocess.Popen(
            [str(arg) for arg in argv],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env={**os.environ, **(env or {})},
            # A test that is killed itself leaves nothing behind.
            preexec_fn=before_exec or (lambda: _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)),
        )
        self._readers = [
            threading.Thread(target=self._read, args=(name, pipe), daemon=True)
            for name, pipe in (("out", self.popen.stdout), ("err", self.popen.stderr))
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, name, pipe):
        for line in pipe:
            with self._news:
                self.lines.append((time.monotonic(), name, line.rstrip("\n")))
                self._news.notify_all()

    @property
    def pid(self):
        return self.popen.pid

    def text(self, stream=None):
        with self._news:
            return "\n".join(t for _, s, t in self.lines if stream in (None, s))

    def wait_line(self, pattern, timeout_s=PATIENCE_S):
        """The match of the first line that has the pattern, awaited."""
        deadline = time.monotonic() + timeout_s
        seen = 0
        with self._news:
            while True:
                for _, _, line in self.lines[seen:]:
                    if match := re.search(pattern, line):
                        return match
                seen = len(self.lines)
                left = deadline - time.monotonic()
                if left <= 0 or (self.popen.poll() is not None and not self._reading()):
                    break
                self._news.wait(min(left, 0.2))
        raise AssertionError(f"{self.name} never said /{pattern}/; it said:\n{self.text()}")

    def _reading(self):
        return any(reader.is_alive() for reader in self._readers)

    def wait_exit(self, timeout_s=PATIENCE_S):
        """The exit code, once all output was read."""
        try:
            code = self.popen.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(
                f"{self.name} did not end within {timeout_s} s; it said:\n{self.text()}"
            ) from None
        for reader in self._readers:
            reader.join(5)
        # Of local agents, too: they write to the same place. (Exit codes would be taken for ours.)
        if found := re.search(r"(Address|Leak|Thread)Sanitizer|runtime error:", self.text()):
            raise AssertionError(f"{self.name}: {found[0]}:\n{self.text()}")
        return code

    def hang_up(self):
        """Closes the reading end of its output, as a pager does that was left."""
        for pipe in (self.popen.stdout, self.popen.stderr):
            # The reader sits in a read of the old description; this one becomes another.
            null = os.open(os.devnull, os.O_RDONLY)
            os.dup2(null, pipe.fileno())
            os.close(null)

    def children(self):
        """Process ids of its living children."""
        try:
            text = pathlib.Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        except OSError:
            return []
        return [int(pid) for pid in text.split() if alive(int(pid))]

    def end(self):
        for pid in [*self.children(), self.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.popen.wait()
        for reader in self._readers:
            reader.join(5)
        self.popen.stdout.close()
        self.popen.stderr.close()


class Answers(http.server.BaseHTTPRequestHandler):
    """Chat completions from a script: the server's `script(number, seen)` decides each answer."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        arrived = time.monotonic()
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:  # Its sender was ended in the middle.
            self.close_connection = True
            return
        seen = {
            "arrived": arrived,
            "session": self.headers.get("X-Session-ID"),
            "parent": self.headers.get("X-Parent-Session-ID"),
            "body": body,
        }
        with self.server.lock:
            number = len(self.server.seen)
            self.server.seen.append(seen)
        status, headers = self.server.script(number, seen)
        seen["status"] = status
        if status != 200:
            payload = json.dumps(self.server.refusal).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
        else:
            payload = self._stream(json.loads(body))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        # Stamped before the bytes leave: whoever answers them cannot be earlier.
        seen["answered"] = time.monotonic()
        self.wfile.write(payload)

    @staticmethod
    def _stream(request):
        head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}

        def event(value):
            return b"data: " + json.dumps({**head, **value}).encode() + b"\n\n"

        def delta(content, finish=None):
            return event({"choices": [{"index": 0, "delta": content, "finish_reason": finish}]})

        usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
        return b"".join([
            delta({"role": "assistant", "content": ""}), delta({"content": "a"}),
            delta({"content": " b"}), delta({}, "stop"), event({"choices": [], "usage": usage}),
            b"data: [DONE]\n\n",
        ])

    def log_message(self, *args):
        pass


class AnswerServer(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """Records every request; answers by `script(number, seen) -> (status, headers)`."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, script):
        self.script = script
        self.refusal = {"error": {"message": "no room", "type": "overloaded"}}
        self.seen = []
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), Answers)
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def handle_error(self, request, client_address):
        pass  # A peer that hung up, as peers do.

    def close(self):
        self.shutdown()
        self._thread.join(5)
        self.server_close()


# A fast engine, so that a few seconds hold enough calls for a verdict.
GATEWAY = """\
listen: {{host: 127.0.0.1, port: 0}}
engine: {{prefill_tokens_per_s: 100000, prefill_base: 20ms, decode_tokens_per_s: 400}}
noise: {{drift_time: 10s}}
{more}
"""

SCENARIO = """\
name: {name}
target:
  url: {url}
  model: plimsoll-rehearsal
  affinity: {{play: X-Session-ID, parent: X-Parent-Session-ID}}
  connect_timeout: 2s
  idle_timeout: {idle_timeout}
  call_deadline: 20s
corpus: {corpus}
mix: {mix}
sweep: {{sessions: {sessions}, target: {target}, warm_up: {warm_up}, measure: {measure},
        block: 2s, drain_limit: {drain_limit}, prime_limit: 3s, extend: off, fail_early: off}}
bar: {bar}
fleet: {fleet}
{more}
seed: {seed}
"""

DEFAULTS = {
    "name": "rig",
    "corpus": "{synthetic: agentx, seed: 1, heavy: 4, light: 4, scale: 40}",
    "mix": "{heavy: 50%, light: 50%}",
    "sessions": [4],
    "target": 4,
    "warm_up": "1s",
    "measure": "6s",
    "drain_limit": "4s",
    "errors": "10%",
    "idle_timeout": "10s",
    "fleet": "{local: 2}",
    "more": "",
    "seed": 7,
}


class RigCase(unittest.TestCase):
    """A temporary folder and a set of processes that are gone after each test."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="plimsoll-run-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.store = self.folder / "store"
        self.json = self.folder / "report.json"
        self.processes = []

    def start(self, program, *argv, **kwargs):
        process = Process(BIN / program, *argv, cwd=self.folder, **kwargs)
        self.processes.append(process)
        self.addCleanup(process.end)
        return process

    def command(self, *argv, timeout_s=PATIENCE_S):
        """Runs `plimsoll` to its end: (exit code, the process)."""
        process = self.start("plimsoll", *argv)
        return process.wait_exit(timeout_s), process

    def write(self, name, text):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def gateway(self, more=""):
        """Starts the rehearsal gateway; returns it, with its url."""
        config = self.write("gateway.yaml", GATEWAY.format(more=more))
        process = self.start("plimsoll-gateway", "--config", config)
        process.url = process.wait_line(r"listening on (http://\S+)")[1]
        return process

    def answers(self, script=lambda number, seen: (200, {})):
        server = AnswerServer(script)
        self.addCleanup(server.close)
        return server

    def scenario(self, url, **over):
        values = {**DEFAULTS, **over}
        values.setdefault(
            "bar", f"{{ttft_p50: 5s, interactivity_p50: 1 tok/s, errors: {values['errors']}}}")
        text = SCENARIO.format(url=url, **values)
        return self.write("scenario.yaml", text)

    def start_run(self, scenario, *flags):
        return self.start(
            "plimsoll", "run", scenario, "--store", self.store, "--json", self.json, *flags)

    def run_to_end(self, make_scenario, agents=2):
        """Runs a scenario with local agents to its end; once more, from a scenario made anew, if
        this machine was too busy to load anything. Checks that no agent is left."""
        for _ in range(3):
            run = self.start_run(make_scenario())
            run.wait_line(rf"fleet: {agents} agents are here")
            pids = run.children()
            self.assertEqual(len(pids), agents)
            run.code = run.wait_exit()
            self.assert_gone(pids)
            if not machine_was_busy(run):
                break
        return run

    def report(self):
        return json.loads(self.json.read_text())

    def assert_says_something(self, step):
        """The step is not void; else its reasons are the failure's."""
        self.assertFalse(step["void"], f"void, and so again: {step['reasons']}")

    def assert_identities(self, report):
        for step in report["steps"]:
            if step["void"]:
                continue
            self.assertGreaterEqual(len(step["identities"]), 5)
            for identity in step["identities"]:
                self.assertTrue(identity["holds"], identity)

    def wait_answered(self, gateway, count):
        """Until the gateway has answered that many calls whole."""

        def answered():
            with urllib.request.urlopen(gateway.url.removesuffix("/v1") + "/metrics") as page:
                text = page.read().decode()
            counters = re.findall(r"^vllm:request_success_total\S* (\S+)$", text, re.M)
            return sum(map(float, counters)) >= count

        wait_until(answered, f"{count} answered calls")

    def assert_gone(self, pids, timeout_s=10):
        wait_until(lambda: not any(alive(pid) for pid in pids), f"the end of {pids}", timeout_s)

    def part(self, step, metric):
        return next(part for part in step["parts"] if part["metric"] == metric)
