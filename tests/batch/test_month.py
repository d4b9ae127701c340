"""A month of nights over a feed: new and changed items are paid for, and nothing else."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

pytest.importorskip("feedparser")

SEED = 7
NIGHTS = 30


@dataclass(frozen=True)
class Post:
    """An item of a feed."""

    guid: str
    title: str
    day: int
    body: str

    def xml(self) -> str:
        return (
            f"<item><guid>{self.guid}</guid><title>{self.title}</title>"
            f"<pubDate>{self.day:02} Nov 2026 08:00:00 GMT</pubDate>"
            f"<content:encoded><![CDATA[<p>{self.body}</p>]]></content:encoded></item>"
        )


def feed(posts: list[Post]) -> str:
    items = "\n".join(post.xml() for post in posts)
    return (
        '<?xml version="1.0"?><rss version="2.0"'
        ' xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>'
        f"<title>Halvik</title><link>https://example.org/</link>{items}</channel></rss>"
    )


def new_post(number: int, day: int) -> Post:
    body = (
        f"Note {number} of the tool library. It lends drills to everybody who lives in the town."
        " Most people keep them for one afternoon, and bring them back clean."
    )
    return Post(f"urn:halvik:{number}", f"Note {number}", day, body)


def test_only_new_and_changed_items_are_paid_in_a_month_of_nights(nights, tmp_path: Path):
    """The ten newest items each night; some are edited, some only dated anew or moved."""
    nights.formats = ("summary",)
    chance = random.Random(SEED)
    path = tmp_path / "feed.xml"
    posts: list[Post] = []
    made = 0
    wanted: list[int] = []
    for day in range(1, NIGHTS + 1):
        due = 0
        for _ in range(chance.choice([0, 1, 1, 2])):
            made += 1
            posts.insert(0, new_post(made, day))
            due += 1
        posts = posts[:10]
        for place, post in enumerate(posts[due:], start=due):
            match chance.choice(["", "", "", "", "text", "title", "date"]):
                case "text":
                    posts[place] = replace(post, body=f"{post.body} Edited on day {day}.")
                    due += 1
                case "title":
                    posts[place] = replace(post, title=f"{post.title}, day {day}")
                    due += 1
                case "date":
                    posts[place] = replace(post, day=day)
        path.write_text(feed(chance.sample(posts, len(posts))), encoding="utf-8")
        if posts:
            before = len(nights.model.paid)
            outcome = nights.run(path)
            assert outcome.exit_code == 0
            assert (len(nights.model.paid) - before, day) == (due, day)
        wanted.append(due)
    assert len(nights.model.paid) == sum(wanted)
    assert len(set(nights.model.paid)) == len(nights.model.paid)
    assert sum(wanted) > 40
