#!/bin/sh
# Rolls a recipe's manifests out and waits until their workloads are there.
#
#   hooks: {rollout: [deploy/hooks/kubernetes/rollout.sh, recipes/7.yaml], …}
#
# Without arguments it takes the files of the scenario's recipe. Environment: PLIMSOLL_NAMESPACE (all
# objects are in one), PLIMSOLL_WAIT (how long for each workload; 30m), KUBECTL.
set -eu
here=$(dirname "$0")
"$here/apply.sh" "$@"
exec "$here/wait.sh" "$@"
