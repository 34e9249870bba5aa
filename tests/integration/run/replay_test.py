"""What reaches the deployment: the same bytes, however many agents play them."""

import collections

import trace_files

from rig import RigCase, wait_until


class SameBytes(RigCase):
    CALLS = 160

    def bodies(self, agents, nonce, **over):
        """Request bodies by session, in order, from a run that is stopped after CALLS of them."""
        server = self.answers()
        scenario = self.scenario(
            server.url, fleet=f"{{local: {agents}}}", measure="40s", **over)
        run = self.start_run(scenario, "--nonce", nonce)
        wait_until(lambda: len(server.seen) >= self.CALLS, "calls")
        run.end()
        sequences = collections.defaultdict(list)
        with server.lock:
            for one in server.seen:
                sequences[one["session"]].append(one["body"])
        return sequences

    def common(self, one, other):
        """Compares the sessions of both as far as both went; how many bodies were compared."""
        compared = 0
        for session in one.keys() & other.keys():
            for a, b in zip(one[session], other[session]):
                self.assertEqual(a, b, f"session {session}, body {compared}")
                compared += 1
        return compared

    def test_flat_sessions(self):
        corpus = trace_files.import_flat(self, sessions=8, calls=60)
        self.compare(corpus=f"{{file: {corpus}}}", mix="{light: 100%}")

    def test_sessions_with_subagents(self):
        self.compare()

    def compare(self, **over):
        alone = self.bodies(1, nonce=1234, **over)
        self.assertGreater(self.common(alone, self.bodies(2, nonce=1234, **over)), self.CALLS / 4)
        # Another nonce: the same lengths, no body alike but for the shared prefix.
        other = self.bodies(2, nonce=1235, **over)
        bodies = {body for sequence in alone.values() for body in sequence}
        self.assertFalse(bodies & {body for sequence in other.values() for body in sequence})
