"""The admission test shows whether a judge can be trusted to apply a rubric."""
