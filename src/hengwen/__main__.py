"""``python -m hengwen`` is the program ``hengwen``."""

from hengwen.cli import main

if __name__ == "__main__":
    main()
