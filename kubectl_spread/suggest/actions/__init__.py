"""Actions of a suggestion: edits of the manifest, of nodes, of pods and of claims."""
