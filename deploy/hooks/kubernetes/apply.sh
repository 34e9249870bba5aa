#!/bin/sh
# Keeps what is there of a recipe's objects, then applies its manifests. Repeated for the same run
# it keeps what it kept the first time.
set -eu
# shellcheck source=deploy/hooks/common.sh
. "$(dirname "$0")/../common.sh"
make_work
manifests "$@" >"$WORK/manifests"
if has_state; then
  say "run $PLIMSOLL_RUN_ID began before: what was there is kept in the ConfigMap $STATE"
else
  object_names "$WORK/manifests" "$WORK/names"
  mkdir "$WORK/state"
  printf '%s\n' "$PLIMSOLL_RUN_ID" >"$WORK/state/run"
  save_objects "$WORK/names" "$WORK/state"
  keep_state "$WORK/state"
fi
apply_manifests "$WORK/manifests"
