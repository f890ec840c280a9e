"""Arguments and messages of ``hengwen run PLAN --batch``."""
