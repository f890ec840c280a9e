"""The words after ``hengwen run PLAN --batch``."""
