"""Rules without a model: they limit a judge's level (``RuleSet``) or are a judge alone (``RulesJudge``)."""
