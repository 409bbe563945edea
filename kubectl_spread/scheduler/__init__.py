"""kube-scheduler: the results of each plugin for one pod on one cluster."""
