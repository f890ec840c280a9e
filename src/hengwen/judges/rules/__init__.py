"""Deterministic rules: they cap a judge's level (``RuleSet``), or are a judge themselves (``RulesJudge``)."""
