"""Our files: the only room that touches them."""
