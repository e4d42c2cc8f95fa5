"""The verbs a user types: ask the rules, tell the store and the drivers."""
