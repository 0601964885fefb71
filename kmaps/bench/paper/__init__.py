"""What the papers say, and what the runs say of it: claims, printed numbers, verdicts, pages."""
