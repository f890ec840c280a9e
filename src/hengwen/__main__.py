"""Run the command line: ``python -m hengwen`` is the same as ``hengwen``."""

from hengwen.cli import main

if __name__ == "__main__":
    main()
