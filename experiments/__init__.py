"""Experiments of the papers, one YAML each; `kmaps run NAME` finds them here."""
