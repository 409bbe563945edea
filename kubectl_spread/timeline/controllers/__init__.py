"""The controllers of a control plane, one module each."""
