"""What the commands share that people use on stored rows: who does it, and to which row."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from repurpose.api.revising import Difference
    from repurpose.config import Settings
    from repurpose.core.record import Row
    from repurpose.ports import Store
    from repurpose.text.differing import Change

__all__ = ["author", "by", "changes_text", "difference_text", "section", "target_row", "tell_row"]

by = click.option("--by", metavar="NAME", help="Who does it; else your login name.")
section = click.option(
    "--section", metavar="NAME", help="Which section of a run: faq, social.linkedin."
)

_AROUND = 100
"""Characters that are shown before and after a change, at least."""
_MARKS = {"equal": "{}", "delete": "[-{}-]", "insert": "{{+{}+}}"}
"""As `git diff --word-diff=plain` has them."""


def author(named: str | None) -> str:
    """The person named, or whoever is logged in.

    Raises:
        UsageError: nobody is named, and the system does not say who that is.
    """
    import getpass

    from repurpose.errors import UsageError

    if named is not None:
        return named
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError) as fault:
        raise UsageError("the system does not say who you are", hint="give --by NAME") from fault


def target_row(store: Store, settings: Settings, target: str, section: str | None) -> Row:
    """The row that is meant: a section of a run, or a row by its id.

    Raises:
        UsageError: there is none, or the run has several sections.
    """
    from repurpose.api.revising import row_of
    from repurpose.errors import UsageError

    if section is not None:
        return row_of(store, settings, target, section)
    try:
        return store.row(target)
    except UsageError:
        _name_a_section(store, target)
        raise


def _name_a_section(store: Store, target: str) -> None:
    """Raise UsageError with the sections to choose from, where a run is meant."""
    from repurpose.core.compose import section_input
    from repurpose.errors import UsageError

    try:
        run = store.run(target)
    except UsageError:
        return
    names = ", ".join(map(section_input, store.rows(run.id)))
    raise UsageError(f"{target} is a run", hint=f"add --section, one of: {names or 'none yet'}")


def tell_row(row: Row, before: Row, *, as_json: bool) -> None:
    """What a row has become, on one line; or as JSON on standard output."""
    from repurpose.cli._render import json_line, measures_phrase, row_object
    from repurpose.core.compose import section_input

    if as_json:
        click.echo(json_line(row_object(row)))
        return
    name = section_input(row)
    if row.id == before.id:
        click.echo(f"{name}: nothing changed, so nothing was stored", err=True)
        return
    length = f", {measures_phrase(row.measures)}" if row.measures else ""
    click.echo(
        f"{name}: revision {row.revision}, {row.action} by {row.author}{length}; row {row.id}",
        err=True,
    )
    for note in row.notes if row.action == "edited" else ():
        click.echo(f"Note: {note}", err=True)


def difference_text(found: Difference) -> str:
    """A difference under headings that say which texts are compared."""
    mine = _named(found.mine)
    if found.base is None:
        return f"# {mine}: there is nothing before it\n"
    base = _named(found.base)
    parts = [f"# {base} → {mine}", changes_text(found.mine_changes)]
    if found.theirs is not None:
        parts += [f"# {base} → {_named(found.theirs)}", changes_text(found.theirs_changes)]
    return "\n\n".join(parts) + "\n"


def changes_text(changes: Sequence[Change]) -> str:
    """Changes in color on a terminal, and elsewhere as `[-old-]{+new+}`.

    Of a long stretch that is the same, its beginning and its end are shown.
    """
    if all(kind == "equal" for kind, _ in changes):
        return "the same text"
    shown = [(kind, _short(text) if kind == "equal" else text) for kind, text in changes]
    if sys.stdout.isatty():
        return "".join(_colored(kind, text) for kind, text in shown)
    return "".join(_MARKS[kind].format(text) for kind, text in shown)


def _short(text: str) -> str:
    return text if len(text) <= 5 * _AROUND else f"{text[:_AROUND]} […] {text[-_AROUND:]}"


def _colored(kind: str, text: str) -> str:
    if kind == "delete":
        return click.style(text, fg="red", strikethrough=True)
    return click.style(text, fg="green", underline=True) if kind == "insert" else text


def _named(row: Row) -> str:
    from repurpose.core.compose import section_input

    who = f" by {row.author}" if row.author else ""
    return f"{section_input(row)} revision {row.revision} ({row.action}{who})"
