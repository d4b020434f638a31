"""WHAT is stored: nodes and edges of trees and graphs, their side arrays, the transposition table, locks, collection."""
