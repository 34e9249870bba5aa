#!/bin/sh
# Puts everything back that rollout.sh of the same run found, removes what it brought, and waits
# until the workloads that were there are there again. Repeated, or without a rollout before it, it
# changes nothing.
set -eu
# shellcheck source=deploy/hooks/common.sh
. "$(dirname "$0")/../common.sh"
make_work
if ! has_state; then
  say "nothing to roll back of run $PLIMSOLL_RUN_ID"
  exit 0
fi
restore_objects
sed -n 's/^was //p' "$WORK/objects" >"$WORK/were"
await_workloads "$WORK/were"
# Last: whatever breaks off before is done again by the next try.
forget_state
say "run $PLIMSOLL_RUN_ID is rolled back"
