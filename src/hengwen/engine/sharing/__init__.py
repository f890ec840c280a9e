"""Share the work of a run among several processes, so that each sample is evaluated once.

A process claims a sample before it evaluates it, and a call before it sends it. A claim ends when its holder
releases it or dies. A claim is released only after everything that it protects is committed.
"""
