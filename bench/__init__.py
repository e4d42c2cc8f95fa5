"""Every number of docs/measured.md, as a ratio measured in one run:  python -m bench [name …]."""
