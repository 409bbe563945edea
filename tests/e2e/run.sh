#!/bin/sh
# What kubectl spread says of a cluster made of kind.yaml is what its scheduler does.
# Usage: run.sh 1.MINOR, with kubectl set to the cluster and kubectl-spread on PATH.
set -eu
version=$1
cd "$(dirname "$0")/../.."
facts=$(mktemp)
explained=$(mktemp)
trap 'rm -f "$facts" "$explained"' EXIT

scheduled() { # how many pods have PodScheduled with the status $1
  kubectl get pods -n shop -l app=web -o json |
    jq "[.items[] | select(any(.status.conditions[]?; .type == \"PodScheduled\" and .status == \"$1\"))] | length"
}

await() { # $1 pods bound and $2 refused
  for _ in $(seq 60); do
    if [ "$(scheduled True) $(scheduled False)" = "$1 $2" ]; then return; fi
    sleep 1
  done
  kubectl get pods -n shop -o wide
  echo "not $1 pods bound and $2 refused after a minute" >&2
  exit 1
}

take_facts() {
  kubectl get nodes,namespaces,pods,services,replicasets,statefulsets,poddisruptionbudgets -A -o yaml >"$facts"
}

expect() { # an exit code from kubectl spread, whose output goes to stdout
  wanted=$1
  shift
  code=0
  kubectl spread "$@" --kubernetes-version "$version" || code=$?
  if [ $code -ne "$wanted" ]; then
    echo "kubectl spread $*: exit code $code, not $wanted" >&2
    exit 1
  fi
}

kubectl plugin list
kubectl spread version
kubectl create namespace shop
take_facts
echo "--- before there is a pod: two replicas will stay Pending"
expect 1 check examples/shop/web.yaml --snapshot "$facts"

kubectl apply -f examples/shop/web.yaml
await 2 2
take_facts
echo "--- why, in the scheduler's own words"
for pod in $(kubectl get pods -n shop -l app=web -o json |
  jq -r '.items[] | select(any(.status.conditions[]?; .type == "PodScheduled" and .status == "False")) | .metadata.name'); do
  expect 1 explain pod "$pod" -n shop --snapshot "$facts"
  expect 1 explain pod "$pod" -n shop --snapshot "$facts" -o json >"$explained"
  jq -e '.message == .reportedMessage' "$explained" || { jq '.message, .reportedMessage' "$explained" && exit 1; }
done

echo "--- mended: all four are placed, and they are"
expect 0 check examples/shop/web-fixed.yaml --snapshot "$facts"
kubectl apply -f examples/shop/web-fixed.yaml
kubectl scale deployment web -n shop --replicas 0
kubectl wait pods -n shop -l app=web --for delete --timeout 2m
kubectl scale deployment web -n shop --replicas 4
await 4 0
