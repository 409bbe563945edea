"""Changes that let a Pending pod be placed, each of them simulated."""
