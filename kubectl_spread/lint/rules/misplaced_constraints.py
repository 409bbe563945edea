"""`topologySpreadConstraints` stands where nothing reads it.

It belongs to the pod's spec. Beside `template`, under `affinity` or in a container it is refused by strict decoding,
and otherwise dropped: the pods have no constraint at all.

Move it to the place the hint names.
"""
