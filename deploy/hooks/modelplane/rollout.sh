#!/bin/sh
# Brings a candidate beside what serves: a second ModelDeployment, and a ModelService of its own for
# the load, from the recipe's manifests. Modelplane changes replicas in place and has no rollout to
# undo, so the public service's endpoints are kept before anything else. See config.sh for names.
#
#   hooks: {rollout: [deploy/hooks/modelplane/rollout.sh, recipes/7.yaml], …}
set -eu
here=$(dirname "$0")
# shellcheck source=deploy/hooks/common.sh
. "$here/../common.sh"
# shellcheck source=deploy/hooks/modelplane/config.sh
. "$here/config.sh"
# shellcheck source=deploy/hooks/modelplane/waits.sh
. "$here/waits.sh"
make_work
manifests "$@" >"$WORK/manifests"
if ! has_state; then
  object_names "$WORK/manifests" "$WORK/names"
  mkdir "$WORK/state"
  printf '%s\n' "$PLIMSOLL_RUN_ID" >"$WORK/state/run"
  if [ -n "$MODELPLANE_SERVICE" ]; then
    endpoints_of "$MODELPLANE_SERVICE" >"$WORK/state/endpoints" ||
      fail "cannot read the endpoints of $MODELPLANE_SERVICE"
    [ -s "$WORK/state/endpoints" ] || fail "the service $MODELPLANE_SERVICE has no endpoints to keep"
  fi
  save_objects "$WORK/names" "$WORK/state"
  keep_state "$WORK/state"
fi
apply_manifests "$WORK/manifests"
await_replicas "$MODELPLANE_DEPLOYMENT_KIND/$MODELPLANE_DEPLOYMENT"
[ -z "$MODELPLANE_RIG_SERVICE" ] || await_service "$MODELPLANE_RIG_SERVICE"
