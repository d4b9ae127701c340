"""What every client of the benchmark is given: files to read, prompts, and answers to get.

The documents are written by a seeded generator, so two runs measure the same bytes. Each is
a Markdown file with a title, sections, a list and a link, and no two are equal.
"""

from __future__ import annotations

import json
import random
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["FORMATS", "Prompts", "read_prompts", "user_prompt", "write_workload"]

FORMATS = ("summary", "faq", "social", "newsletter")
MODEL = "mock-model"
"""What the mock server is told; it answers any name."""

_SUBJECTS = (
    "the city council", "a baker on Mill Street", "our night train", "the repair café",
    "a team of four engineers", "the public library", "every second reader", "the orchard",
    "an old ferry", "the choir of the harbour", "the new tram line", "a school in the valley",
)  # fmt: skip
_VERBS = (
    "opened", "measured", "repaired", "counted", "paid for", "moved", "painted", "sold",
    "kept", "lent", "planned", "tested",
)  # fmt: skip
_OBJECTS = (
    "eleven bicycles", "the roof of the station", "a garden for bees", "two hundred lamps",
    "the timetable of the winter", "a library of tools", "the bridge over the canal",
    "a map of quiet streets", "the last loaf of the day", "forty metres of shelves",
    "a workshop for clocks", "the archive of letters",
)  # fmt: skip
_ENDS = (
    "before the first snow", "for less than {n} euros", "in {n} days", "with help from neighbours",
    "although nobody had asked", "and wrote down what it cost", "because the old plan had failed",
    "while {n} people watched", "so that children could use it", "without closing for a day",
)  # fmt: skip
_SENTENCES = 5
"""In a paragraph; together about sixty words."""


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompts of a document, taken apart, so that a client only has to join strings."""

    systems: dict[str, str]
    """By format."""
    schemas: dict[str, dict[str, object]]
    """By format: what is sent as response format."""
    before: str
    """What stands before a document's title in the user prompt."""
    after: str
    """What stands behind its text."""


def user_prompt(prompts: Prompts, document: str) -> str:
    """The user prompt of a document, byte for byte the one that `repurpose` sends."""
    title, _, _ = document.partition("\n")
    return f"{prompts.before}{title.removeprefix('# ')}\n\n{document.rstrip()}{prompts.after}"


def write_workload(folder: Path, documents: int, words: int) -> None:
    """Write documents of about so many words, prompts and answers into `folder`.

    Checks that a client which joins the prompts sends what `repurpose` sends.
    """
    from repurpose.api.loading import load
    from repurpose.api.runs import job_for
    from repurpose.config import Settings
    from repurpose.core.steering import Steering

    (folder / "documents").mkdir(parents=True, exist_ok=True)
    for number in range(documents):
        path = folder / "documents" / f"{number:05}.md"
        if not path.exists():
            path.write_text(_document(number, words), encoding="utf-8")
    source = load(folder / "documents" / "00000.md")
    settings = Settings(database=folder / "unused.db")
    calls = {name: job_for(name, source, Steering(), settings, None).first for name in FORMATS}
    before, _, after = calls["summary"].user.partition(f"{source.title}\n\n{source.text}")
    prompts = Prompts(
        systems={name: call.system for name, call in calls.items()},
        schemas={name: dict(call.wire) for name, call in calls.items()},
        before=before,
        after=after,
    )
    assert {call.user for call in calls.values()} == {user_prompt(prompts, _document(0, words))}
    (folder / "prompts.json").write_text(json.dumps(asdict(prompts)), encoding="utf-8")
    _write_answers(folder / "answers")


def read_prompts(folder: Path) -> Prompts:
    """The prompts that `write_workload` wrote."""
    return Prompts(**json.loads((folder / "prompts.json").read_text("utf-8")))  # noqa: TID251 - ours


def _document(number: int, words: int) -> str:
    draw = random.Random(number)
    lines = [f"# What {draw.choice(_SUBJECTS)} {draw.choice(_VERBS)}, part {number}"]
    for place in range(round(words / 66)):
        if place % 5 == 3:
            lines.append(f"## How {draw.choice(_SUBJECTS)} did it")
        if place % 11 == 5:
            lines.append("\n".join(f"- {_sentence(draw)}" for _ in range(4)))
        lines.append(" ".join(_sentence(draw) for _ in range(_SENTENCES)))
    lines.append("More at [the project page](https://example.org/bridge?part=2&print=yes).")
    return "\n\n".join(lines) + "\n"


def _sentence(draw: random.Random) -> str:
    end = draw.choice(_ENDS).format(n=draw.randint(3, 900))
    said = f"{draw.choice(_SUBJECTS)} {draw.choice(_VERBS)} {draw.choice(_OBJECTS)} {end}."
    return said[0].upper() + said[1:]


def _write_answers(folder: Path) -> None:
    """One valid answer of about 1 KB for each format, under each name that a client sends."""
    draw = random.Random("answers")

    def prose(sentences: int) -> str:
        return " ".join(_sentence(draw) for _ in range(sentences))

    answers: dict[str, object] = {
        "summary": {"sentences": [prose(1) for _ in range(8)]},
        "faq": {
            "pairs": [
                {"question": f"Who did what in part {number}?", "answer": prose(1)}
                for number in ("one", "two", "three", "four", "five", "six")
            ]
        },
        "social": {
            name: {"text": prose(count), "hashtags": ["#bridge", "#winter"]}
            for name, count in (("linkedin", 6), ("x", 2), ("instagram", 3))
        },
        "newsletter": {
            "subject": "A bridge that stays open",
            "preheader": "What it cost, and who uses it now",
            "paragraphs": [prose(3) for _ in range(4)],
            "callToAction": "Read the whole story on the project page.",
        },
    }
    folder.mkdir(exist_ok=True)
    for name, answer in answers.items():
        for spelled in (name, name.capitalize()):
            (folder / f"{spelled}.json").write_text(json.dumps(answer), encoding="utf-8")
