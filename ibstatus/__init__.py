"""ib: your Claude always knows what its agents are doing, is woken when it must act, and nothing is lost."""

__version__ = "0.1.0"
