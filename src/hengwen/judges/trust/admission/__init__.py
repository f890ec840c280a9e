"""The admission test: can a judge be trusted with a rubric?"""
