#!/usr/bin/env python3
"""A kubectl over a folder, as far as the hooks of deploy/hooks use one: objects are files, every
call is written down, and rules make calls fail, hang or find nothing.

Environment: FAKE_CLUSTER, a folder with objects/KIND/NAME (YAML as applied, after a line with its
version), calls (JSON, a line a call), rules (JSON: [[words that the call has, "fail" | "hang" |
"once"], …]) and answers (JSON: {"KIND/NAME JSONPATH": text}).
"""

import json
import os
import pathlib
import re
import sys
import time

CLUSTER = pathlib.Path(os.environ["FAKE_CLUSTER"])
GROUPS = {"Deployment": "deployment.apps", "Service": "service", "ConfigMap": "configmap",
          "StatefulSet": "statefulset.apps", "ModelDeployment": "modeldeployment.modelplane.ai",
          "ModelService": "modelservice.modelplane.ai"}


def path_of(name):
    kind, _, rest = name.partition("/")
    return CLUSTER / "objects" / kind / rest


def documents(path):
    """(name, text) of each document of a manifest."""
    try:
        text = pathlib.Path(path).read_text()
    except OSError as error:
        sys.exit(f"error: {error}")
    for document in re.split(r"^---\n", text, flags=re.M):
        kind = re.search(r"^kind: (\w+)$", document, re.M)
        name = re.search(r"^  name: ([\w.-]+)$", document, re.M)
        if not kind or not name:
            sys.exit(f"error: {path} is no manifest")
        yield f"{GROUPS[kind[1]]}/{name[1]}", document


def version_of(name):
    return int(path_of(name).read_text().split("\n", 1)[0])


def text_of(name):
    return path_of(name).read_text().split("\n", 1)[1]


def put(name, text):
    path = path_of(name)
    version = version_of(name) + 1 if path.exists() else 1
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{version}\n{text}")


def live(name):
    """As an API server gives it: with what it adds to the metadata."""
    added = f'  resourceVersion: "{version_of(name)}"\n  uid: 1-2-3\n'
    return re.sub(r"^metadata:\n", "metadata:\n" + added, text_of(name), count=1, flags=re.M)


def obey_rules(words):
    rules_file = CLUSTER / "rules"
    rules = json.loads(rules_file.read_text()) if rules_file.exists() else []
    for rule in rules:
        if not all(word in words for word in rule[0]):
            continue
        if rule[1] == "once":
            rules.remove(rule)
            rules_file.write_text(json.dumps(rules))
        if rule[1] == "hang":
            time.sleep(3600)
        sys.exit(f"error: the server could not be asked: {' '.join(words)}")


def option(words, *names):
    for i, word in enumerate(words):
        for name in names:
            if word == name and i + 1 < len(words):
                return words[i + 1]
            if word.startswith(name + "="):
                return word[len(name) + 1:]
    return None


def jsonpath(name, path):
    answers = json.loads((CLUSTER / "answers").read_text()) if (CLUSTER / "answers").exists() else {}
    if path == "{.metadata.resourceVersion}":
        return str(version_of(name))
    if path == "{.spec.endpoints}":
        return re.search(r"^  endpoints: (.*)$", text_of(name), re.M)[1]
    return answers.get(f"{name} {path}", answers.get(path, ""))


def get(words):
    name, out = words[1], option(words, "-o") or ""
    if words[1] == "configmap":
        name = "configmap/" + words[2]
    if option(words, "-l"):
        return print(jsonpath(name, out[len("jsonpath="):]), end="")
    if not path_of(name).exists():
        if "--ignore-not-found" in words:
            return None
        sys.exit(f'Error from server (NotFound): "{name}" not found')
    if out == "name":
        return print(name)
    if out.startswith("jsonpath="):
        return print(jsonpath(name, out[len("jsonpath="):]), end="")
    if out.startswith("go-template="):
        data = json.loads(text_of(name))
        return print(data.get(re.search(r'"(.*)"', out)[1], "<no value>"), end="")
    return print(live(name), end="")


def create(words):
    if words[1] == "configmap":
        name = "configmap/" + words[2]
        if path_of(name).exists():
            sys.exit(f'Error from server (AlreadyExists): "{name}" already exists')
        folder = pathlib.Path(option(words, "--from-file"))
        return put(name, json.dumps({path.name: path.read_text() for path in folder.iterdir()}))
    for name, text in documents(option(words, "-f")):
        if path_of(name).exists():
            sys.exit(f'Error from server (AlreadyExists): "{name}" already exists')
        put(name, text)
    return None


def patch(words):
    operations = json.loads(option(words, "-p"))
    for operation in operations:
        if operation["op"] == "test" and operation["value"] != str(version_of(words[1])):
            sys.exit("Error from server: the object has been modified")
    for operation in operations:
        if operation["op"] == "replace":
            assert operation["path"] == "/spec/endpoints", operation
            endpoints = json.dumps(operation["value"], separators=(",", ":"))
            put(words[1], re.sub(r"^  endpoints: .*$", lambda _: "  endpoints: " + endpoints,
                                 text_of(words[1]), flags=re.M))


def main():
    words = sys.argv[1:]
    with open(CLUSTER / "calls", "a", encoding="utf-8") as calls:
        calls.write(json.dumps(words) + "\n")
    obey_rules(words)
    if words[:1] == ["--namespace"]:
        words = words[2:]
    verb = words[0]
    if verb == "get":
        get(words)
    elif verb == "create":
        create(words)
    elif verb == "patch":
        patch(words)
    elif verb == "apply":
        for name, text in documents(option(words, "-f")):
            if "--dry-run=client" in words:
                print(name)
            else:
                put(name, text)
    elif verb == "replace":
        for name, text in documents(option(words, "-f")):
            if "resourceVersion" in text:
                sys.exit("Error from server (Conflict): the object has been modified")
            if not path_of(name).exists():
                sys.exit(f'Error from server (NotFound): "{name}" not found')
            put(name, text)
    elif verb == "delete":
        name = words[1] if "/" in words[1] else f"{words[1]}/{words[2]}"
        if path_of(name).exists():
            path_of(name).unlink()
        elif "--ignore-not-found" not in words:
            sys.exit(f'Error from server (NotFound): "{name}" not found')
    elif verb == "rollout":
        if not path_of(words[2]).exists():
            sys.exit(f'Error from server (NotFound): "{words[2]}" not found')
    else:
        sys.exit(f"error: unknown command {verb}")


if __name__ == "__main__":
    main()
