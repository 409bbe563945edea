"""A constraint has a field that does not exist.

kubectl's strict validation refuses it; Helm and most controllers do not ask for it, and the field is dropped in
silence. Case counts: `NodeTaintsPolicy` is no field.

Write the field as the hint has it.
"""
