#!/bin/sh
# Back to what was before the run: the public service's endpoints first, so that nobody is sent to
# what goes, then the candidate and the rig's service. Repeated, or without a rollout before it, it
# changes nothing.
set -eu
here=$(dirname "$0")
# shellcheck source=deploy/hooks/common.sh
. "$here/../common.sh"
# shellcheck source=deploy/hooks/modelplane/config.sh
. "$here/config.sh"
# shellcheck source=deploy/hooks/modelplane/waits.sh
. "$here/waits.sh"
make_work
if ! has_state; then
  say "nothing to roll back of run $PLIMSOLL_RUN_ID"
  exit 0
fi
if [ -n "$MODELPLANE_SERVICE" ]; then
  before=$(state_value endpoints) || fail "cannot read the ConfigMap $STATE"
  now=$(endpoints_of "$MODELPLANE_SERVICE") || fail "cannot ask for $MODELPLANE_SERVICE"
  if [ "$before" != "$now" ]; then
    set_endpoints "$MODELPLANE_SERVICE" "$before"
    await_service "$MODELPLANE_SERVICE"
  fi
fi
restore_objects
forget_state
say "run $PLIMSOLL_RUN_ID is rolled back"
