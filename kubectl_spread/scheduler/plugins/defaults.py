"""The default profile.

Source: pkg/scheduler/apis/config/v1/default_plugins.go (v1.36.2). Volume plugins are not here yet; a pod that
needs them is reported as not predictable.
"""

from __future__ import annotations

from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.framework.profile import WeightedPlugin
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.dynamicresources import DynamicResources
from kubectl_spread.scheduler.plugins.imagelocality import ImageLocality
from kubectl_spread.scheduler.plugins.interpodaffinity import InterPodAffinity
from kubectl_spread.scheduler.plugins.nodeaffinity import NodeAffinity
from kubectl_spread.scheduler.plugins.nodedeclaredfeatures import NodeDeclaredFeatures
from kubectl_spread.scheduler.plugins.nodename import NodeName
from kubectl_spread.scheduler.plugins.nodeports import NodePorts
from kubectl_spread.scheduler.plugins.noderesources.balanced_allocation import NodeResourcesBalancedAllocation
from kubectl_spread.scheduler.plugins.noderesources.fit import NodeResourcesFit
from kubectl_spread.scheduler.plugins.nodeunschedulable import NodeUnschedulable
from kubectl_spread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubectl_spread.scheduler.plugins.tainttoleration import TaintToleration

_TAINTS = TaintToleration()
_AFFINITY = NodeAffinity()
_FIT = NodeResourcesFit()
_SPREAD = PodTopologySpread()
_POD_AFFINITY = InterPodAffinity()

DEFAULT = Profile(
    scheduler_name="default-scheduler",
    pre_filter=(
        _AFFINITY,
        NodePorts(),
        _FIT,
        _SPREAD,
        _POD_AFFINITY,
        NodeDeclaredFeatures(),
        NodeUnschedulable(),
        NodeName(),
        _TAINTS,
    ),
    filter_order=(
        names.NODE_UNSCHEDULABLE,
        names.NODE_NAME,
        names.TAINT_TOLERATION,
        names.NODE_AFFINITY,
        names.NODE_PORTS,
        names.NODE_RESOURCES_FIT,
        names.POD_TOPOLOGY_SPREAD,
        names.INTER_POD_AFFINITY,
        names.NODE_DECLARED_FEATURES,
    ),
    score=(
        WeightedPlugin(_TAINTS, 3),
        WeightedPlugin(_AFFINITY, 2),
        WeightedPlugin(_FIT, 1),
        WeightedPlugin(_SPREAD, 2),
        WeightedPlugin(_POD_AFFINITY, 2),
        WeightedPlugin(DynamicResources(), 2),
        WeightedPlugin(NodeResourcesBalancedAllocation(), 1),
        WeightedPlugin(ImageLocality(), 1),
    ),
    post_filter=(names.DYNAMIC_RESOURCES, names.DEFAULT_PREEMPTION),
)
