"""``python -m kmaps``, where the script is not on the path."""

from importlib import import_module

# Imported by name: type checkers do not know that cli/ is installed as kmaps.cli.
import_module("kmaps.cli").main()
