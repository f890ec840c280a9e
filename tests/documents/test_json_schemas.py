"""``hengwen schema``: the published JSON Schemas."""

from __future__ import annotations

from hengwen.documents.render.write import schema_kinds


def test_the_kinds_are_listed_and_each_schema_is_printed(hengwen) -> None:
    assert hengwen("schema").out.splitlines() == schema_kinds()
    assert hengwen("schema", "dry-run").json["title"] == "Hengwen dry run"


def test_an_unknown_kind_is_refused_with_the_nearest_one(hengwen) -> None:
    done = hengwen("schema", "sequences")
    assert (done.code, done.err) == (
        2,
        "hengwen: unknown kind of result 'sequences'; did you mean 'sequence'?\n",
    )


def test_the_kind_of_a_command_is_named_where_it_has_another_name(hengwen) -> None:
    assert "unknown kind of result 'report'; did you mean 'run'?" in hengwen("schema", "report").err


def test_the_kinds_of_schemas_are_the_kinds_of_documents() -> None:
    from document_examples import KINDS

    assert schema_kinds() == KINDS
