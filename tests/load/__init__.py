"""Much: thousands of cells, and files that are larger than what a command may hold in memory."""
