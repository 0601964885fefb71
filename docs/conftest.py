"""What pytest does not collect here: the pages' examples run, what builds the site does not."""

collect_ignore_glob = ["*.py", "_*", "gallery", "node_modules", "examples", "reference", "results"]
