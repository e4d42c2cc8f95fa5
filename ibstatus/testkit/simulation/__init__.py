"""`ib sim`: hours of a fleet in minutes, with everything real but the model and the clock."""
