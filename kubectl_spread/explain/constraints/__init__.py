"""Topology spread constraints of a pod, with the numbers behind them."""
