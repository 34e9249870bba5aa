"""Runs with hooks that leave a trail: when each began and ended, by lines of one file."""

import os
import pathlib
import re
import stat

from rig import RigCase

HOOK = r"""#!/bin/sh
# usage: hook TRAIL SECONDS [EXIT]: notes its begin and end.
stamp() { cut -d' ' -f1 /proc/uptime; }
echo "begin $PLIMSOLL_PHASE $$ $(stamp) $PLIMSOLL_RUN_ID $PLIMSOLL_VERDICT" >> "$1"
echo "hook of $PLIMSOLL_PHASE says hello"
sleep "$2"
echo "end $PLIMSOLL_PHASE $$ $(stamp)" >> "$1"
exit "${3:-0}"
"""


class HookCase(RigCase):
    def hooks(self, rollout_s=0, rollback_s=0, promote_s=0, rollback_exit=0, rollout_exit=0,
              tries=1):
        """The scenario's section, its hooks a script that leaves lines in self.trail."""
        self.trail = self.folder / "trail"
        script = self.folder / "hook.sh"
        script.write_text(HOOK)
        script.chmod(script.stat().st_mode | stat.S_IXUSR)

        def hook(seconds, code, more=""):
            return (f'{{run: ["./hook.sh", "{self.trail}", "{seconds}", "{code}"], '
                    f"deadline: 30s{more}}}")

        return ("hooks:\n"
                f"  rollout: {hook(rollout_s, rollout_exit)}\n"
                f"  promote: {hook(promote_s, 0)}\n"
                f"  rollback: {hook(rollback_s, rollback_exit, f', tries: {tries}')}\n")

    def events(self):
        """(what, phase, pid, seconds since boot), as they were written."""
        if not self.trail.exists():
            return []
        rows = []
        for line in self.trail.read_text().splitlines():
            what, phase, pid, at, *_ = line.split()
            rows.append((what, phase, int(pid), float(at)))
        return rows

    def begun(self):
        return [phase for what, phase, *_ in self.events() if what == "begin"]

    def assert_one_at_a_time(self, killed=()):
        """No hook began while another was alive. `killed`: phases whose end may be missing."""
        running = None
        for what, phase, pid, at in self.events():
            if what == "end":
                self.assertEqual(running, (phase, pid), self.events())
                running = None
                continue
            if running is not None:
                self.assertIn(running[0], killed, self.events())
                self.assertFalse(pathlib.Path(f"/proc/{running[1]}").exists()
                                 and self.is_hook(running[1]), self.events())
            running = (phase, pid)

    @staticmethod
    def is_hook(pid):
        try:
            return b"hook.sh" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return False
