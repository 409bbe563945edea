"""The Filter plugins of the default profile, in the order they run.

Source: pkg/scheduler/apis/config/v1/default_plugins.go (v1.36.2). Volume plugins, DynamicResources and
NodeDeclaredFeatures are not here yet; `cycle.beyond` names the pods that need them.
"""

from __future__ import annotations

from kubectl_spread.scheduler.framework.plugin import FilterPlugin
from kubectl_spread.scheduler.plugins.interpodaffinity import InterPodAffinity
from kubectl_spread.scheduler.plugins.nodeaffinity import NodeAffinity
from kubectl_spread.scheduler.plugins.nodename import NodeName
from kubectl_spread.scheduler.plugins.nodeports import NodePorts
from kubectl_spread.scheduler.plugins.noderesources import NodeResourcesFit
from kubectl_spread.scheduler.plugins.nodeunschedulable import NodeUnschedulable
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import PodTopologySpread
from kubectl_spread.scheduler.plugins.tainttoleration import TaintToleration

FILTER_PLUGINS: tuple[FilterPlugin, ...] = (
    NodeUnschedulable(),
    NodeName(),
    TaintToleration(),
    NodeAffinity(),
    NodePorts(),
    NodeResourcesFit(),
    PodTopologySpread(),
    InterPodAffinity(),
)
