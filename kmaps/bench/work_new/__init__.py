"""What the experiments compute; nothing here knows of YAML or of records."""
