"""Print the size of the source: modules, lines of code, lines of docstrings, options of the command line."""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from pathlib import Path

NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
}


def lines_of(source: str) -> tuple[int, int]:
    """Return the lines that hold code, and the lines of docstrings (those of attributes too)."""
    documented: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            documented |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NO_CODE and token.string:
            code |= set(range(token.start[0], token.end[0] + 1))
    return len(code - documented), len(documented)


def parameters() -> int:
    """Return the number of arguments and options of all commands."""
    from typer.main import get_command

    from hengwen.cli import app

    def count(command: object) -> int:
        children = getattr(command, "commands", {}).values()
        own = [item for item in getattr(command, "params", []) if item.name != "help"]
        return len(own) + sum(map(count, children))

    return count(get_command(app))


def main() -> None:
    """Print one line for each figure."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "src")
    files = sorted(root.rglob("*.py"))
    sizes = [lines_of(path.read_text("utf-8")) for path in files]
    print(f"modules {len(files)}")
    print(f"lines of code {sum(code for code, _ in sizes)}")
    print(f"lines of docstrings {sum(documented for _, documented in sizes)}")
    print(f"longest file {max(len(path.read_text('utf-8').splitlines()) for path in files)}")
    if len(sys.argv) == 1:
        print(f"parameters of the command line {parameters()}")


if __name__ == "__main__":
    main()
