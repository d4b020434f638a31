"""Simulations: descend, evaluate, back up, on trees and on graphs, in one kernel, in stages or in batches."""
