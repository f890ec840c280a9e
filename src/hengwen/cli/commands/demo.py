"""``hengwen demo``."""

from __future__ import annotations

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.output import Face, exit_code
from hengwen.errors import StoreError


def demo(
    judge: options.Judge = None,
    base_url: options.BaseUrl = None,
    *,
    face: Face,
) -> None:
    """Evaluate the packaged sample suite in seconds, without a key or network.

    With --judge, a language model judges the answers. The store is deleted at the end, so the next demo pays
    for its calls again.
    """
    from importlib.resources import as_file, files
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from hengwen.cli.ui.output import progress_bar
    from hengwen.documents.run.document import demo_document
    from hengwen.runs.options import RunOptions
    from hengwen.runs.run_plan import run_plan
    from hengwen.store import open_store
    from hengwen.store.database import DATA_IS_KEPT

    face.check()
    with (
        TemporaryDirectory(prefix="hengwen-demo-") as folder,
        as_file(files("hengwen.demo") / "data") as data,
        open_store(Path(folder) / "demo.db") as store,
    ):
        try:
            with progress_bar(quiet=face.is_silent) as progress:
                result = run_plan(
                    data / "plan.yaml",
                    store=store,
                    judge=judge,
                    base_url=base_url,
                    options=RunOptions(progress=progress),
                )
        except StoreError as error:  # the store is deleted anyway
            raise StoreError(str(error).removesuffix(DATA_IS_KEPT)) from None
        document = demo_document(store, result)
        language = face.report_language(result.runs)
        face.show(document, language)
        face.show_bill(result.bill, language)
    raise typer.Exit(exit_code(result, strict=False, store_is_kept=False))
