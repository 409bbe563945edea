"""Commands that edit objects: apply, patch, label, taint and annotate."""
