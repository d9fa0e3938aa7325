"""The cells of the comparison, a file each."""
