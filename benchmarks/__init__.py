"""Speed of each component as a ratio to something everybody has; `make bench` runs them all."""
