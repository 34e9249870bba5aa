#!/bin/sh
# The recipe stays: what was there before is forgotten, so that no later rollback of this run
# undoes it. What was kept is printed first, for people.
set -eu
# shellcheck source=deploy/hooks/common.sh
. "$(dirname "$0")/../common.sh"
if ! has_state; then
  say "run $PLIMSOLL_RUN_ID was promoted before"
  exit 0
fi
k get configmap "$STATE" -o yaml
forget_state
say "run $PLIMSOLL_RUN_ID is promoted"
