"""What calls ask for and what answers hold: output lengths, tool calls, extra fields, secrets."""

import json
import re

from rig import RigCase

TEMPLATE = "template: {request_tokens: 11, message_tokens: 4}"


class ChatCase(RigCase):
    def steps_of(self, gateway_more, **over):
        """Runs against a gateway; the steps of the report that say something."""
        run = self.run_to_end(lambda: self.scenario(self.gateway(gateway_more).url, **over))
        self.text = " ".join(run.text().split())
        report = self.report()
        self.assertTrue(report["steps"], run.text())
        return run, report

    def finding(self, report, pattern):
        """The level of preflight's finding that matches."""
        for finding in report["preflight"]["findings"]:
            if re.search(pattern, finding["text"]):
                return finding["level"]
        self.fail(f"preflight did not find /{pattern}/: {report['preflight']}")


class OutputLengths(ChatCase):
    def test_honoured_switches_give_the_recorded_lengths(self):
        _, report = self.steps_of(f"stop_probability: 0.2\n{TEMPLATE}")
        self.assertEqual(self.finding(report, "min_tokens and ignore_eos are honoured"), "ok")
        self.assertTrue(report["preflight"]["min_tokens_honoured"])
        self.assertEqual(self.finding(report, r"a request costs 11 \+ 4 a message"), "ok")
        step = report["steps"][0]
        self.assertGreater(step["output_length"]["n"], 20)
        self.assertAlmostEqual(step["output_length"]["came_of_asked"], 1)
        # The fit makes the template's overhead no drift.
        self.assertLess(step["prompt_length"]["drift_worst_share"], 0.001)
        self.assertEqual(step["prompt_length"]["calls_over_2_percent"], 0)

    def test_a_strict_server_ends_answers_where_it_likes(self):
        _, report = self.steps_of("stop_probability: 0.5\noutput_switches: reject")
        self.assertEqual(self.finding(report, r"rejected \(HTTP 400\)"), "warning")
        self.assertFalse(report["preflight"]["ignore_eos_honoured"])
        step = report["steps"][0]
        self.assertLess(step["output_length"]["came_of_asked"], 0.9)
        self.assertEqual(step["outcomes"]["http_error"], 0, "no step sends what was rejected")
        self.assertRegex(self.text, r"output length +\d+\.\d% of the tokens asked for came")

    def test_switches_that_are_ignored_are_found_out(self):
        _, report = self.steps_of("stop_probability: 0.5\noutput_switches: ignore")
        self.assertEqual(self.finding(report, "accepted and not honoured"), "warning")

    def test_a_fixed_length(self):
        _, report = self.steps_of("", more="replay: {output: {tokens: 7}}")
        step = report["steps"][0]
        self.assertAlmostEqual(step["output_length"]["came_of_asked"], 1)
        self.assertEqual(step["tokens_out"], 7 * step["outcomes"]["ok"])

    def test_left_to_the_model(self):
        _, report = self.steps_of("output_natural: 9", more="replay: {output: free}")
        step = report["steps"][0]
        self.assertEqual(step["output_length"]["n"], 0)
        self.assertEqual(step["tokens_out"], 9 * step["outcomes"]["ok"])


class ToolCalls(ChatCase):
    def run_with(self, more):
        text = self.scenario("URL").read_text()
        text = text.replace("  model: plimsoll-rehearsal", "  model: plimsoll-rehearsal\n  tools: on")
        text = text.replace("errors: 10%}", "errors: 10%, tool_calls: 5%}")

        def make():
            return self.write("tools.yaml", text.replace("URL", self.gateway(more).url))

        run = self.run_to_end(make)
        return run, self.report()

    def test_well_formed_ones_pass(self):
        run, report = self.run_with("tool_call_probability: 0.9")
        part = self.part(report["steps"][0], "tool calls")
        self.assertGreater(part["n"], 20)
        self.assertEqual(report["steps"][0]["answers"]["tool_calls_invalid"], 0)
        self.assertIn(part["verdict"], ("pass", "too close"), run.text())

    def test_malformed_ones_fail_their_part(self):
        run, report = self.run_with(
            "tool_call_probability: 0.9\nfaults: [{kind: malformed_tool_calls, probability: 0.5}]")
        step = report["steps"][0]
        self.assert_says_something(step)
        self.assertEqual(self.part(step, "tool calls")["verdict"], "fail")
        self.assertEqual(run.code, 1, run.text())
        self.assertRegex(run.text("out"), r"tool calls")
        self.assertGreater(step["answers"]["tool_calls_invalid"], 5)


class ExtraFieldsAndSecrets(ChatCase):
    TOKEN = "sk-plimsoll-never-to-be-seen-7f3a"

    def scan(self):
        """No file that the run left behind holds the token."""
        for path in self.folder.rglob("*"):
            if path.is_file():
                self.assertNotIn(self.TOKEN.encode(), path.read_bytes(), path)

    def scenario_with(self, url):
        text = self.scenario(url).read_text()
        return self.write("secret.yaml", text.replace(
            "  model: plimsoll-rehearsal",
            "  model: plimsoll-rehearsal\n  auth: {bearer_env: PLIMSOLL_TEST_TOKEN}\n"
            "  headers: {x-team: staging}\n"
            "  extra_body: {top_k: 40, chat_template_kwargs: {enable_thinking: false}}"))

    def run_with_token(self, url):
        run = self.start("plimsoll", "run", self.scenario_with(url), "--store", self.store,
                         "--json", self.json, env={"PLIMSOLL_TEST_TOKEN": self.TOKEN})
        run.code = run.wait_exit()
        self.assertNotIn(self.TOKEN, run.text())
        self.scan()
        return run

    def test_fields_are_sent_and_the_token_is_kept_nowhere(self):
        server = self.answers()
        self.run_with_token(server.url)
        bodies = [json.loads(one["body"]) for one in server.seen]
        self.assertGreater(len(bodies), 10)
        for body in bodies:
            self.assertEqual(body["top_k"], 40)
            self.assertEqual(body["chat_template_kwargs"], {"enable_thinking": False})
        self.assertTrue(self.report()["steps"])

    def test_a_server_that_quotes_the_token_back(self):
        server = self.answers(lambda number, seen: (401, {"X-Quote": self.TOKEN}))
        server.refusal = {"error": {"message": f"bad key {self.TOKEN}"}}
        run = self.run_with_token(server.url)
        self.assertEqual(run.code, 4, run.text())
        self.assertIn("bad key [token]", " ".join(run.text().split()))
