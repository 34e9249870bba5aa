"""Software that is not ours, started by tests: unprivileged, in a folder of its own, surely ended."""

import json
import os
import shutil
import socket

import rig
from rig import BIN, Process, RigCase, machine_was_busy, wait_until

_NOBODY = 65534


def free_port():
    """A port that nobody listens on now; who binds it may still come too late."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def drop_privileges():
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)
    rig._LIBC.prctl(rig._PR_SET_PDEATHSIG, 9)


class OutsiderCase(RigCase):
    def outsider(self, make_argv, tries=5):
        """Starts `make_argv(port)` on a free port, and another one should it be taken meanwhile;
        as nobody where the tests run as root."""
        if os.geteuid() == 0:
            os.chown(self.folder, _NOBODY, _NOBODY)
        for _ in range(tries):
            port = free_port()
            process = Process(*make_argv(port), cwd=self.folder,
                              env={"HOME": str(self.folder)}, before_exec=drop_privileges)
            self.addCleanup(process.end)
            wait_until(lambda: listens(port) or process.popen.poll() is not None, "a listener")
            if process.popen.poll() is None:
                process.url = f"http://127.0.0.1:{port}/v1"
                return process
        raise AssertionError(f"{process.name} does not start:\n{process.text()}")

    def calls(self, url, count, parallel=1, prompt=128, tokens=8, model="plimsoll-rehearsal",
              headers=(), pause_ms=0):
        """Makes calls with the agent's own client, that long after the one before; a dict each, in the order of their ends."""
        probe = self.start("call_probe", url, model, count, parallel, prompt, tokens, pause_ms,
                           *headers)
        self.assertEqual(probe.wait_exit(), 0, probe.text())
        calls = [json.loads(line) for line in probe.text("out").splitlines()]
        self.assertEqual(len(calls), count)
        return calls

    def assert_all(self, calls, **expected):
        for call in calls:
            self.assertEqual({key: call[key] for key in expected}, expected, call)


def program(name):
    """Its path, also where only root's PATH has it; None: not installed."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
