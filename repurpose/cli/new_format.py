"""`repurpose new-format`: an example of a format of your own, to change to your needs."""

from __future__ import annotations

import click

__all__ = ["command"]

_PROMPT = """\
+++
# Settings of this format, all of them optional. They are not a part of the prompt.
label = "{label}"
extra = "drop"            # undeclared fields of an answer: "drop" or "reject"

[retry]
max_attempts = 2          # calls in all, 1 to 5
+++
Write the title and the description that a search engine shows for {{title}}, and its key words.

- `title`: what the page is about, the most telling words first.
- `description`: one or two complete sentences that say what a reader gets from the page.
- `tags`: single words or names that the text is about, the most important one first.
- Take numbers and names over exactly, and never invent any. Write plain text without Markdown.
"""

_SCHEMA = """\
{{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "{label}",
  "description": "What a search engine shows of a page.",
  "type": "object",
  "properties": {{
    "title": {{
      "description": "The title of the page.",
      "type": "string",
      "maxLength": 60
    }},
    "description": {{
      "description": "One or two sentences.",
      "type": "string",
      "maxLength": 155
    }},
    "tags": {{
      "description": "Key words, the most important one first.",
      "type": "array",
      "items": {{ "type": "string", "maxLength": 30 }},
      "maxItems": 8
    }}
  }},
  "required": ["title", "description"],
  "additionalProperties": false
}}
"""


@click.command(
    epilog="""\b
Examples:
  repurpose new-format meta
  repurpose check --formats-dir formats
  repurpose run article.md --formats meta --formats-dir formats
"""
)
@click.argument("name")
@click.option(
    "--dir", "folder", metavar="FOLDER", default="formats", help="Where to; formats by default."
)
def command(*, name: str, folder: str) -> None:
    """Write an example of a format of your own.

    Two files: prompts/NAME.md says what to write, and schemas/NAME.schema.json which fields an
    answer has. Change both to your needs. Nothing is overwritten. Delete the schema file to take
    a model's text as it comes.
    """
    from pathlib import Path

    from repurpose.errors import UsageError
    from repurpose.formats import checked_own_name, label_of

    checked_own_name(name)
    files = {
        Path(folder) / "prompts" / f"{name}.md": _PROMPT,
        Path(folder) / "schemas" / f"{name}.schema.json": _SCHEMA,
    }
    there = [path for path in files if path.exists()]
    if there:
        raise UsageError(f"{there[0]} exists and is not overwritten", hint="give another name")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.format(label=label_of(name)), encoding="utf-8")
        click.echo(f"wrote {path}")
    click.echo("Next:")
    click.echo(f"  repurpose check --formats-dir {_quoted(folder)}")
    click.echo(f"  repurpose run ARTICLE --formats {name} --formats-dir {_quoted(folder)}")


def _quoted(folder: str) -> str:
    import shlex

    return shlex.quote(folder)
