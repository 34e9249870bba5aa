# shellcheck shell=sh
# What the Modelplane hooks are about; sourced by them. Each may be set in the scenario's environment.
#
#   MODELPLANE_DEPLOYMENT    the candidate, a second ModelDeployment of the manifests
#   MODELPLANE_RIG_SERVICE   the ModelService that the load goes to, of the manifests; "" for none
#   MODELPLANE_SERVICE       the public ModelService that promote.sh turns to the candidate; "" for none
#   MODELPLANE_LABEL, MODELPLANE_CANDIDATE   label and value of the candidate's endpoints, as in
#                            spec.template.metadata.labels of the ModelDeployment
#
# Modelplane's kinds are young: their names and paths are here, not in the scripts.
: "${MODELPLANE_DEPLOYMENT:?names the candidate}"
: "${MODELPLANE_RIG_SERVICE=}"
: "${MODELPLANE_SERVICE=}"
: "${MODELPLANE_LABEL:=plimsoll.dev/track}"
: "${MODELPLANE_CANDIDATE:=candidate}"
: "${MODELPLANE_POLL:=5}"  # Seconds between looks; the hook's deadline bounds all waits.
: "${MODELPLANE_DEPLOYMENT_KIND:=modeldeployment.modelplane.ai}"
: "${MODELPLANE_SERVICE_KIND:=modelservice.modelplane.ai}"
: "${MODELPLANE_ROUTE_KIND:=httproute.gateway.networking.k8s.io}"
: "${MODELPLANE_WANTED_PATH:=.spec.replicas}"
: "${MODELPLANE_READY_PATH:=.status.replicas.ready}"
: "${MODELPLANE_ENDPOINTS_PATH:=.spec.endpoints}"
: "${MODELPLANE_ENDPOINTS_POINTER:=/spec/endpoints}"
: "${MODELPLANE_ROUTE_LABEL:=crossplane.io/composite}"
# Reasons for which waiting is in vain.
: "${MODELPLANE_HOPELESS:=InsufficientCapacity NoClusters InvalidNodeSelector}"
