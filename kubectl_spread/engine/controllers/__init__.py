"""Controllers of a control plane, one module each."""
