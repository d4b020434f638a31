"""WHAT is kept: nodes and edges of trees and graphs, what stands beside them, the transposition table, locks, collection."""
