"""Gates: conditions on the scores of a run, which decide the exit code of a CI job."""
