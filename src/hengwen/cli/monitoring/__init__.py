"""Print the results of commands about several runs, such as ``compare``, ``drift`` and ``gate``."""
