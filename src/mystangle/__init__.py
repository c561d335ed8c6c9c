"""Tangle and weave a Jupyter Book: the chapters are the source of the package."""
