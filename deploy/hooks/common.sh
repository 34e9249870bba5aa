# shellcheck shell=sh
# Shared by the hooks beside it; sourced, not run. POSIX sh.
#
# What a rollback needs is kept in the cluster, in a ConfigMap named after the run, written before
# anything is changed: it outlives this machine, and makes every hook safe to repeat. A first
# argument of "" or an unset variable is an error (set -u), never an empty name.

: "${KUBECTL:=kubectl}"
: "${PLIMSOLL_RUN_ID:?is not set: these are hooks of plimsoll run (docs/hooks.md)}"
export LC_ALL=C

say() { printf '%s\n' "$*"; }
fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

# In the namespace, if one is named.
k() {
  if [ -n "${PLIMSOLL_NAMESPACE:-}" ]; then
    "$KUBECTL" --namespace "$PLIMSOLL_NAMESPACE" "$@"
  else
    "$KUBECTL" "$@"
  fi
}

# A name that Kubernetes takes: lower case, no underscore, short; the sum tells ids apart that
# become alike by that.
state_name() {
  sum=$(printf '%s' "$PLIMSOLL_RUN_ID" | cksum)
  plain=$(printf '%s' "$PLIMSOLL_RUN_ID" | tr 'A-Z_.' 'a-z--' | cut -c 1-40)
  printf 'plimsoll-%s-%s' "$plain" "${sum%% *}"
}
STATE=$(state_name)

# Whether the state is kept. An API server that cannot be asked is an error, not a "no".
has_state() {
  found=$(k get configmap "$STATE" --ignore-not-found -o name) ||
    fail "cannot ask for the ConfigMap $STATE"
  [ -n "$found" ]
}

# One value of it, whole.
state_value() {
  k get configmap "$STATE" -o "go-template={{index .data \"$1\"}}"
}

# Keeps the files of a folder, each under its name. Fails if another process was quicker.
keep_state() { k create configmap "$STATE" "--from-file=$1"; }

forget_state() { k delete configmap "$STATE" --ignore-not-found; }

# The recipe's manifests: the arguments, else the files of the scenario's recipe, one a line.
manifests() {
  if [ "$#" -gt 0 ]; then
    printf '%s\n' "$@"
  elif [ -n "${PLIMSOLL_RECIPE:-}" ]; then
    printf '%s\n' "$PLIMSOLL_RECIPE"
  else
    fail "no manifest: name one as an argument, or as the scenario's recipe"
  fi
}

# Sets WORK, a folder that goes with the script.
make_work() {
  WORK=$(mktemp -d)
  # shellcheck disable=SC2064 # The folder of now.
  trap "rm -rf '$WORK'" EXIT
  trap 'exit 143' TERM
  trap 'exit 130' INT
}

# Names of all objects in the manifests listed in file $1, into file $2, without asking for them.
object_names() {
  : >"$2"
  while IFS= read -r manifest; do
    k apply --dry-run=client -o name -f "$manifest" >"$2.one" </dev/null ||
      fail "cannot read the manifest $manifest"
    cat "$2.one" >>"$2"
  done <"$1"
  [ -s "$2" ] || fail "the manifests name no object"
}

# Keeps what is there of the objects listed in file $1, in folder $2: objects (a line each: was or
# new, and its name) and N.yaml for each that was.
save_objects() {
  : >"$2/objects"
  number=0
  while IFS= read -r name; do
    k get "$name" -o yaml --ignore-not-found >"$WORK/live" </dev/null ||
      fail "cannot ask for $name"
    if [ -s "$WORK/live" ]; then
      # Of the object's own metadata, so that it is put back whatever happened to it since.
      sed -e '/^  resourceVersion: /d' -e '/^  uid: /d' "$WORK/live" >"$2/$number.yaml"
      printf 'was %s\n' "$name" >>"$2/objects"
    else
      printf 'new %s\n' "$name" >>"$2/objects"
    fi
    number=$((number + 1))
  done <"$1"
}

apply_manifests() {
  while IFS= read -r manifest; do
    k apply -f "$manifest" </dev/null
  done <"$1"
}

# Puts back what was, removes what is new, in the order of the manifests.
restore_objects() {
  state_value objects >"$WORK/objects" || fail "cannot read the ConfigMap $STATE"
  number=0
  while read -r what name; do
    if [ "$what" = was ]; then
      state_value "$number.yaml" >"$WORK/before.yaml" </dev/null || fail "cannot read $STATE"
      found=$(k get "$name" --ignore-not-found -o name </dev/null) || fail "cannot ask for $name"
      if [ -n "$found" ]; then
        k replace -f "$WORK/before.yaml" </dev/null
      else
        k create -f "$WORK/before.yaml" </dev/null
      fi
    else
      k delete "$name" --ignore-not-found </dev/null
    fi
    number=$((number + 1))
  done <"$WORK/objects"
}

# Waits for every workload among the names in file $1. The hook's own deadline ends a longer wait.
await_workloads() {
  while IFS= read -r name; do
    case $name in
      deployment.apps/* | statefulset.apps/* | daemonset.apps/*)
        k rollout status "$name" "--timeout=${PLIMSOLL_WAIT:-30m}" </dev/null
        ;;
    esac
  done <"$1"
}
