"""Commands that edit objects: apply and patch."""
