#!/bin/sh
# Waits until every Deployment, StatefulSet and DaemonSet of a recipe has been rolled out.
set -eu
# shellcheck source=deploy/hooks/common.sh
. "$(dirname "$0")/../common.sh"
make_work
manifests "$@" >"$WORK/manifests"
object_names "$WORK/manifests" "$WORK/names"
await_workloads "$WORK/names"
