# shellcheck shell=sh
# What the Modelplane hooks wait for; sourced by them.

# Field $3 ("status", "reason", "message") of condition $2 of the object $1; empty: there is none yet.
condition() {
  k get "$1" -o "jsonpath={.status.conditions[?(@.type==\"$2\")].$3}"
}

# Until condition $2 of $1 is True. At once an error where waiting is in vain.
await_condition() {
  while :; do
    state=$(condition "$1" "$2" status) || fail "cannot ask for $1"
    [ "$state" != True ] || return 0
    reason=$(condition "$1" "$2" reason) || fail "cannot ask for $1"
    for hopeless in $MODELPLANE_HOPELESS; do
      if [ "$reason" = "$hopeless" ]; then
        fail "$1: $2 is $reason: $(condition "$1" "$2" message)"
      fi
    done
    sleep "$MODELPLANE_POLL"
  done
}

# Until every replica that $1 wants is ready.
await_replicas() {
  await_condition "$1" ReplicasScheduled
  await_condition "$1" ReplicasReady
  while :; do
    wanted=$(k get "$1" -o "jsonpath={$MODELPLANE_WANTED_PATH}") || fail "cannot ask for $1"
    ready=$(k get "$1" -o "jsonpath={$MODELPLANE_READY_PATH}") || fail "cannot ask for $1"
    if [ -n "$wanted" ] && [ "$wanted" = "$ready" ]; then return 0; fi
    sleep "$MODELPLANE_POLL"
  done
}

# Until the service $1 routes. RoutingReady is not tied to the latest change, so the composed route
# is looked at too: it has backends, and its parents accept it.
await_service() {
  await_condition "$MODELPLANE_SERVICE_KIND/$1" EndpointsResolved
  await_condition "$MODELPLANE_SERVICE_KIND/$1" RoutingReady
  while :; do
    backends=$(k get "$MODELPLANE_ROUTE_KIND" -l "$MODELPLANE_ROUTE_LABEL=$1" -o \
      'jsonpath={.items[*].spec.rules[*].backendRefs[*].name}') || fail "cannot ask for routes of $1"
    accepted=$(k get "$MODELPLANE_ROUTE_KIND" -l "$MODELPLANE_ROUTE_LABEL=$1" -o \
      'jsonpath={.items[*].status.parents[*].conditions[?(@.type=="Accepted")].status}') ||
      fail "cannot ask for routes of $1"
    case " $accepted " in
      "  " | *" False "* | *" Unknown "*) ;;
      *) [ -z "$backends" ] || return 0 ;;
    esac
    sleep "$MODELPLANE_POLL"
  done
}

endpoints_of() {
  k get "$MODELPLANE_SERVICE_KIND/$1" -o "jsonpath={$MODELPLANE_ENDPOINTS_PATH}"
}

# Sets the whole list of the service $1 to $2, unless somebody changed the service since it was
# read: then it is read again, three times at most.
set_endpoints() {
  left=3
  while :; do
    version=$(k get "$MODELPLANE_SERVICE_KIND/$1" -o 'jsonpath={.metadata.resourceVersion}') ||
      fail "cannot ask for $1"
    patch="[{\"op\": \"test\", \"path\": \"/metadata/resourceVersion\", \"value\": \"$version\"},
      {\"op\": \"replace\", \"path\": \"$MODELPLANE_ENDPOINTS_POINTER\", \"value\": $2}]"
    if k patch "$MODELPLANE_SERVICE_KIND/$1" --type=json -p "$patch"; then return 0; fi
    left=$((left - 1))
    [ "$left" -gt 0 ] || fail "cannot set the endpoints of $1"
  done
}
