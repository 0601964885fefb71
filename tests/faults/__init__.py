"""Faults of the system while a command writes: kills, signals, full disks, clocks that jump."""
