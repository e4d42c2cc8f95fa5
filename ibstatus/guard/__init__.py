"""May an agent do this? `guard` judges, `shell` reads command lines, `commands` and its kin know what programs do."""
