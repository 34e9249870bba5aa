#!/bin/sh
# Turns the public service to the candidate, by label, and waits until its route says so. What was
# there before stays kept in the run's ConfigMap, and the old ModelDeployment stays: remove both once
# nothing runs there any more.
set -eu
here=$(dirname "$0")
# shellcheck source=deploy/hooks/common.sh
. "$here/../common.sh"
# shellcheck source=deploy/hooks/modelplane/config.sh
. "$here/config.sh"
# shellcheck source=deploy/hooks/modelplane/waits.sh
. "$here/waits.sh"
[ -n "$MODELPLANE_SERVICE" ] || fail "MODELPLANE_SERVICE names no public service to promote in"
has_state || fail "run $PLIMSOLL_RUN_ID keeps no endpoints to go back to: it was not rolled out"
await_replicas "$MODELPLANE_DEPLOYMENT_KIND/$MODELPLANE_DEPLOYMENT"
set_endpoints "$MODELPLANE_SERVICE" \
  "[{\"selector\": {\"matchLabels\": {\"$MODELPLANE_LABEL\": \"$MODELPLANE_CANDIDATE\"}}}]"
await_service "$MODELPLANE_SERVICE"
say "$MODELPLANE_SERVICE serves $MODELPLANE_DEPLOYMENT"
