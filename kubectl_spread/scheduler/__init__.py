"""kube-scheduler: the answers of each plugin for one pod on one cluster."""
