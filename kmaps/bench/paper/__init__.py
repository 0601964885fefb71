"""The papers' statements and our results on them: claims, printed numbers, verdicts, pages."""
