"""What records say about the papers: verdicts on claims, printed numbers; nothing is run here."""
