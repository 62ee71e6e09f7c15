"""Sandboxes of harnesses, a module for each; the harness itself is not a dependency."""
