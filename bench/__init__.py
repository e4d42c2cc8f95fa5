"""Every number that the README states, as a ratio measured in one run:  python -m bench [name …]."""
