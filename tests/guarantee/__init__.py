"""Tests of proofs, and the judge that they are compared with."""
