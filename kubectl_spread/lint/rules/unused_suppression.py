"""A suppression suppresses nothing.

The fault it was written for is gone, or it names no rule, or a rule that does not exist. It would hide the next finding
of that rule at this place.

Remove the comment, the annotation's entry or the config's, or name the rule in brackets:
`# spread: ignore[SPR304] the reason`.
"""
