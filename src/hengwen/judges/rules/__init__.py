"""Rules without a model: they limit the level that a judge gave, or replace the judge (``RulesJudge``)."""
