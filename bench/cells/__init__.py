"""The cells of the comparison, one file per family."""
