"""Drivers: where a simulation's playing and evaluating happen, and what happens between two slices of simulations."""
