"""Recorded sessions in the v8 form, made for a test."""

import json


def flat_session(name, calls, first_tokens=640):
    """A session of one stream: each call keeps the prompt before it and adds a block."""
    requests = []
    for call in range(calls):
        tokens = first_tokens + 64 * call
        requests.append({
            "t": 2 * call, "type": "n", "model": "m", "in": tokens, "out": 2,
            "hash_ids": list(range(1, tokens // 64 + 1)),
            "input_types": ["text"], "output_types": ["text"], "stop": "end_turn",
            "api_time": 1.0, "think_time": 0.0,
        })
    sums = {
        "input": sum(request["in"] for request in requests),
        "output": sum(request["out"] for request in requests),
    }
    return {
        "id": name, "models": ["m"], "block_size": 64, "hash_id_scope": "local",
        "tool_tokens": 128, "system_tokens": 128, "requests": requests,
        "totals": {
            "parent_tokens": sums, "subagent_tokens": {"input": 0, "output": 0},
            "combined_tokens": sums, "subagent_count": 0,
        },
    }


def import_flat(case, sessions, calls):
    """A corpus file of `sessions` different flat sessions, all light, imported by the program."""
    folder = case.folder / "traces"
    folder.mkdir()
    for number in range(sessions):
        session = flat_session(f"trace_{number:04}", calls, first_tokens=640 + 64 * number)
        (folder / f"trace_{number:04}.json").write_text(json.dumps(session))
    corpus = case.folder / "flat.corpus"
    code, process = case.command(
        "corpus", "import", folder, "--out", corpus, "--keep-copies",
        "--light-max", "1000000", "--heavy-min", "2000000")
    case.assertEqual(code, 0, process.text())
    return corpus
