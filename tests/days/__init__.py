"""The working days of users, typed as commands."""
