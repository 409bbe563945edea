"""VolumeRestrictions, NodeVolumeLimits, VolumeBinding and VolumeZone."""
