"""kube-scheduler: for one pod and one cluster, what each plugin says."""
