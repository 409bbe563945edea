"""Kubectl commands as a user types them, translated to steps of the timeline. It has no click and no I/O."""
