"""Every number of docs/measured.md and the README, as a ratio measured in one run:  python -m bench [name …]."""
