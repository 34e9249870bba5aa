"""The ready-made hooks of deploy/hooks against a kubectl that records its calls."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from rig import PATIENCE_S

HERE = pathlib.Path(__file__).resolve().parent
HOOKS = HERE.parents[2] / "deploy" / "hooks"

OLD = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: engine\nspec:\n  image: old\n"
NEW = OLD.replace("old", "new")
ROUTER = "apiVersion: v1\nkind: Service\nmetadata:\n  name: router\nspec:\n  port: 1\n"

CANDIDATE = ("apiVersion: modelplane.ai/v1alpha1\nkind: ModelDeployment\nmetadata:\n  name: m-v2\n"
             "spec:\n  replicas: 2\n")
RIG = ("apiVersion: modelplane.ai/v1alpha1\nkind: ModelService\nmetadata:\n  name: m-rig\n"
       'spec:\n  endpoints: [{"selector":{"matchLabels":{"plimsoll.dev/track":"candidate"}}}]\n')
STABLE = '[{"weight":1,"selector":{"matchLabels":{"track":"stable"}}}]'
PUBLIC = ("apiVersion: modelplane.ai/v1alpha1\nkind: ModelService\nmetadata:\n  name: m\n"
          f"spec:\n  endpoints: {STABLE}\n")
MD, MS = "modeldeployment.modelplane.ai", "modelservice.modelplane.ai"


class Cluster(unittest.TestCase):
    hooks = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="plimsoll-deploy-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "kubectl").symlink_to(HERE / "fake_kubectl.py")
        self.manifest = self.folder / "a recipe.yaml"
        self.env = dict(os.environ, FAKE_CLUSTER=str(self.folder),
                        PATH=f"{self.folder}/bin:{os.environ['PATH']}",
                        PLIMSOLL_RUN_ID="20261130-Demo_1", PLIMSOLL_RECIPE=str(self.manifest),
                        TMPDIR=str(self.folder), PYTHONDONTWRITEBYTECODE="1")

    def object(self, name):
        path = self.folder / "objects" / name
        return path.read_text().split("\n", 1)[1] if path.exists() else None

    def put(self, name, text):
        path = self.folder / "objects" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"7\n{text}")

    def states(self):
        folder = self.folder / "objects" / "configmap"
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []

    def rules(self, *rules):
        (self.folder / "rules").write_text(json.dumps(rules))

    def answer(self, **answers):
        (self.folder / "answers").write_text(json.dumps(answers))

    def calls(self):
        path = self.folder / "calls"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def run_hook(self, name, *words, timeout=PATIENCE_S):
        return subprocess.run([self.hooks / name, *words], env=self.env, capture_output=True,
                              text=True, timeout=timeout, check=False, stdin=subprocess.DEVNULL)

    def succeed(self, name, *words):
        result = self.run_hook(name, *words)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def refuse(self, name, *words):
        result = self.run_hook(name, *words)
        self.assertNotEqual(result.returncode, 0, result.stdout)
        return result.stderr


class Kubernetes(Cluster):
    hooks = HOOKS / "kubernetes"

    def setUp(self):
        super().setUp()
        self.put("deployment.apps/engine", OLD)
        self.manifest.write_text(NEW + "---\n" + ROUTER)

    def test_there_and_back(self):
        self.succeed("rollout.sh")
        self.assertEqual(self.object("deployment.apps/engine"), NEW)
        self.assertEqual(self.object("service/router"), ROUTER)
        self.assertEqual(len(self.states()), 1)
        self.assertRegex(self.states()[0], r"^plimsoll-20261130-demo-1-\d+$")
        self.assertTrue(any(call[:3] == ["rollout", "status", "deployment.apps/engine"]
                            for call in self.calls()))
        self.succeed("rollback.sh")
        self.assertEqual(self.object("deployment.apps/engine"), OLD)
        self.assertIsNone(self.object("service/router"))
        self.assertEqual(self.states(), [])

    def test_the_state_is_kept_before_anything_is_changed(self):
        self.succeed("rollout.sh")
        words = [(call[0], "--dry-run=client" in call) for call in self.calls()]
        self.assertLess(words.index(("create", False)), words.index(("apply", False)))

    def test_a_second_rollout_does_not_take_the_candidate_for_what_was_there(self):
        self.succeed("rollout.sh")
        self.succeed("rollout.sh")
        self.succeed("rollback.sh")
        self.assertEqual(self.object("deployment.apps/engine"), OLD)

    def test_a_rollback_without_a_rollout_changes_nothing(self):
        self.assertIn("nothing to roll back", self.succeed("rollback.sh"))
        self.assertEqual([call[0] for call in self.calls()], ["get"])

    def test_a_second_rollback_changes_nothing(self):
        self.succeed("rollout.sh")
        self.succeed("rollback.sh")
        self.put("deployment.apps/engine", "of somebody else")
        self.succeed("rollback.sh")
        self.assertEqual(self.object("deployment.apps/engine"), "of somebody else")

    def test_another_run_keeps_its_own(self):
        self.succeed("rollout.sh")
        self.env["PLIMSOLL_RUN_ID"] = "20261130-demo_1"  # Alike once it is made a name.
        self.assertIn("nothing to roll back", self.succeed("rollback.sh"))
        self.assertEqual(self.object("deployment.apps/engine"), NEW)

    def test_an_api_server_that_is_away_is_no_empty_cluster(self):
        self.succeed("rollout.sh")
        self.rules([["get", "configmap"], "fail"])
        self.assertIn("cannot ask", self.refuse("rollback.sh"))
        self.rules()
        self.succeed("rollback.sh")
        self.assertEqual(self.object("deployment.apps/engine"), OLD)

    def test_whatever_call_fails_the_next_try_gets_back(self):
        self.succeed("rollout.sh")
        before = len(self.calls())
        self.succeed("rollback.sh")
        calls = self.calls()[before:]
        for broken in range(len(calls)):
            with self.subTest(call=calls[broken]):
                shutil.rmtree(self.folder / "objects")
                self.put("deployment.apps/engine", OLD)
                self.succeed("rollout.sh")
                words = [word for word in calls[broken] if not word.startswith("/")]
                self.rules([[word for word in words if "before.yaml" not in word], "once"])
                self.run_hook("rollback.sh")
                self.rules()
                self.succeed("rollback.sh")
                self.assertEqual(self.object("deployment.apps/engine"), OLD)
                self.assertIsNone(self.object("service/router"))
                self.assertEqual(self.states(), [])

    def test_an_apply_that_fails_fails_the_rollout_and_is_rolled_back(self):
        self.rules([["apply", "-f", str(self.manifest)], "fail"])
        self.refuse("rollout.sh")
        self.rules()
        self.succeed("rollback.sh")
        self.assertEqual(self.object("deployment.apps/engine"), OLD)

    def test_a_rollout_that_is_never_done_fails(self):
        self.rules([["rollout", "status"], "fail"])
        self.refuse("rollout.sh")

    def test_an_object_that_was_deleted_meanwhile_comes_back(self):
        self.succeed("rollout.sh")
        (self.folder / "objects/deployment.apps/engine").unlink()
        self.succeed("rollback.sh")
        self.assertEqual(self.object("deployment.apps/engine"), OLD)

    def test_a_hook_that_hangs_can_be_ended_and_leaves_no_files(self):
        self.rules([["rollout", "status"], "hang"])
        with subprocess.Popen([self.hooks / "rollout.sh"], env=self.env, start_new_session=True,
                              stdout=subprocess.DEVNULL) as hook:
            while not any(call[:2] == ["rollout", "status"] for call in self.calls()):
                self.assertIsNone(hook.poll())
            os.killpg(hook.pid, 15)
            self.assertNotEqual(hook.wait(PATIENCE_S), 0)
        self.rules()
        self.assertEqual([path.name for path in self.folder.iterdir()
                          if path.name.startswith("tmp.")], [])
        self.succeed("rollback.sh")
        self.assertEqual(self.object("deployment.apps/engine"), OLD)

    def test_promoted_it_stays(self):
        self.succeed("rollout.sh")
        self.succeed("promote.sh")
        self.succeed("promote.sh")
        self.assertIn("nothing to roll back", self.succeed("rollback.sh"))
        self.assertEqual(self.object("deployment.apps/engine"), NEW)

    def test_the_namespace_is_in_every_call(self):
        self.env["PLIMSOLL_NAMESPACE"] = "staging"
        self.succeed("rollout.sh")
        self.succeed("rollback.sh")
        for call in self.calls():
            self.assertEqual(call[:2], ["--namespace", "staging"])

    def test_words_that_are_wrong(self):
        self.assertIn("cannot read the manifest", self.refuse("rollout.sh", "/no/such.yaml"))
        del self.env["PLIMSOLL_RECIPE"]
        self.assertIn("no manifest", self.refuse("rollout.sh"))
        del self.env["PLIMSOLL_RUN_ID"]
        self.assertIn("PLIMSOLL_RUN_ID", self.refuse("rollback.sh"))
        self.assertEqual(self.object("deployment.apps/engine"), OLD)


READY = {f"{MD}/m-v2 {{.spec.replicas}}": "2", f"{MD}/m-v2 {{.status.replicas.ready}}": "2",
         '{.items[*].spec.rules[*].backendRefs[*].name}': "b1",
         '{.items[*].status.parents[*].conditions[?(@.type=="Accepted")].status}': "True"}
for _kind, _types in ((f"{MD}/m-v2", ("ReplicasScheduled", "ReplicasReady")),
                      (f"{MS}/m-rig", ("EndpointsResolved", "RoutingReady")),
                      (f"{MS}/m", ("EndpointsResolved", "RoutingReady"))):
    for _type in _types:
        READY[f'{_kind} {{.status.conditions[?(@.type=="{_type}")].status}}'] = "True"


class Modelplane(Cluster):
    hooks = HOOKS / "modelplane"

    def setUp(self):
        super().setUp()
        self.manifest.write_text(CANDIDATE + "---\n" + RIG)
        self.put(f"{MS}/m", PUBLIC)
        self.answer(**READY)
        self.env.update(MODELPLANE_DEPLOYMENT="m-v2", MODELPLANE_RIG_SERVICE="m-rig",
                        MODELPLANE_SERVICE="m", MODELPLANE_POLL="0.02")

    def test_there_and_back(self):
        self.succeed("rollout.sh")
        self.assertEqual(self.object(f"{MD}/m-v2"), CANDIDATE)
        self.assertEqual(self.object(f"{MS}/m-rig"), RIG)
        self.assertEqual(self.object(f"{MS}/m"), PUBLIC)  # Customers see nothing of it.
        self.succeed("rollback.sh")
        self.assertIsNone(self.object(f"{MD}/m-v2"))
        self.assertIsNone(self.object(f"{MS}/m-rig"))
        self.assertEqual(self.object(f"{MS}/m"), PUBLIC)
        self.assertEqual(self.states(), [])
        self.assertFalse(any(call[0] == "patch" for call in self.calls()))

    def test_promotion_by_label_and_the_old_endpoints_verbatim_on_the_way_back(self):
        self.succeed("rollout.sh")
        self.succeed("promote.sh")
        self.assertIn('{"matchLabels":{"plimsoll.dev/track":"candidate"}}',
                      self.object(f"{MS}/m"))
        before = len(self.calls())
        self.succeed("rollback.sh")
        self.assertEqual(self.object(f"{MS}/m"), PUBLIC)
        verbs = [call[0] for call in self.calls()[before:]]
        # Nobody is sent to what goes.
        self.assertLess(verbs.index("patch"), verbs.index("delete"))

    def test_somebody_elses_change_is_not_written_over(self):
        self.succeed("rollout.sh")
        self.rules([["patch"], "once"])
        self.succeed("promote.sh")
        self.assertEqual([call[0] for call in self.calls()].count("patch"), 2)
        for call in self.calls():
            if call[0] == "patch":
                self.assertEqual(json.loads(call[call.index("-p") + 1])[0]["op"], "test")

    def test_no_room_is_an_error_at_once(self):
        answers = dict(READY)
        answers[f'{MD}/m-v2 {{.status.conditions[?(@.type=="ReplicasScheduled")].status}}'] = "False"
        answers[f'{MD}/m-v2 {{.status.conditions[?(@.type=="ReplicasScheduled")].reason}}'] = (
            "InsufficientCapacity")
        self.answer(**answers)
        self.assertIn("InsufficientCapacity", self.refuse("rollout.sh"))
        self.succeed("rollback.sh")
        self.assertIsNone(self.object(f"{MD}/m-v2"))

    def test_waits_until_the_route_has_backends(self):
        answers = dict(READY)
        answers['{.items[*].spec.rules[*].backendRefs[*].name}'] = ""
        self.answer(**answers)
        with self.assertRaises(subprocess.TimeoutExpired):
            self.run_hook("rollout.sh", timeout=3)

    def test_a_public_service_without_endpoints_is_refused_untouched(self):
        (self.folder / "objects" / MS / "m").unlink()
        self.assertIn("cannot read the endpoints", self.refuse("rollout.sh"))
        self.assertIsNone(self.object(f"{MD}/m-v2"))

    def test_promotion_without_a_rollout_is_refused(self):
        self.assertIn("keeps no endpoints", self.refuse("promote.sh"))

    def test_without_a_public_service(self):
        self.env["MODELPLANE_SERVICE"] = ""
        self.succeed("rollout.sh")
        self.assertIn("no public service", self.refuse("promote.sh"))
        self.succeed("rollback.sh")
        self.assertEqual(self.object(f"{MS}/m"), PUBLIC)


class Scripts(unittest.TestCase):
    def test_every_one_is_posix_and_stops_at_errors(self):
        scripts = sorted(HOOKS.glob("*/*.sh"))
        self.assertTrue(scripts)
        for script in scripts:
            run_by_itself = os.access(script, os.X_OK)
            self.assertEqual("set -eu\n" in script.read_text(), run_by_itself, script)
            subprocess.run(["sh", "-n", script], check=True)

    @unittest.skipUnless(shutil.which("shellcheck"), "no shellcheck here")
    def test_shellcheck_has_nothing_to_say(self):
        scripts = [str(path.relative_to(HOOKS.parents[1])) for path in HOOKS.glob("**/*.sh")]
        result = subprocess.run(["shellcheck", "-x", *scripts], cwd=HOOKS.parents[1],
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout)


if __name__ == "__main__":
    unittest.main()
