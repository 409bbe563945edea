#!/bin/sh
# make demo: from a manifest with mistakes to a diagnosis of a Pending pod, and its fix.
cd "$(dirname "$0")" || exit 1

run() { # command, and the exit code it must have
    printf '\n$ kubectl-spread %s\n' "$1"
    # shellcheck disable=SC2086 (the words of the command)
    kubectl-spread $1
    code=$?
    if [ "$code" -ne "$2" ]; then
        echo "demo: exit code $code, not $2" >&2
        exit 1
    fi
}

run "check shop/web-broken.yaml" 1
run "check shop/web.yaml --snapshot shop/cluster.yaml" 1
run "explain pod web-6d4f9c7b58-9pdlw -n shop --snapshot shop/cluster.yaml" 1
run "check shop/web-fixed.yaml --snapshot shop/cluster.yaml" 0
