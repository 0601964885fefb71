"""Trade-offs: accuracy against the time of a test, of random maps that learners thin out."""
