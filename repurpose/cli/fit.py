"""`repurpose fit`: a text of one's own, counted and cut as platforms do."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repurpose.cli import _options

if TYPE_CHECKING:
    from repurpose.platforms import FittedPost, Platform

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  repurpose fit post.txt --platform x
  repurpose fit post.txt --platform bluesky,mastodon=1000 --hashtags ferry,night
  repurpose fit article.txt --platform x --thread
  cat subject.txt | repurpose fit - --platform newsletter_subject
"""
)
@click.argument("source")
@click.option(
    "--platform",
    "platforms",
    required=True,
    metavar="A,B",
    help="For which platforms: x, x=premium, mastodon=1000; see repurpose platforms.",
)
@click.option("--hashtags", metavar="A,B", default="", help="Hashtags to put after the text.")
@click.option("--title", metavar="TEXT", help="A title, where the platform has one.")
@click.option("--link", metavar="URL", help="A link to put after the text.")
@click.option("--disclosure", metavar="TEXT", help="A last line that is never cut.")
@click.option("--language", metavar="CODE", help="The text's language, for sentence ends.")
@click.option("--thread", "threads", is_flag=True, help="Several numbered posts instead of a cut.")
@click.option("--cut", "always", is_flag=True, help="Cut also where a limit is only advice.")
@_options.as_json
def command(
    *,
    source: str,
    platforms: str,
    hashtags: str,
    title: str | None,
    link: str | None,
    disclosure: str | None,
    language: str | None,
    threads: bool,
    always: bool,
    as_json: bool,
) -> None:
    """Count and cut a text of yours for a platform.

    SOURCE is a text file in UTF-8, or - for standard input. The text that fits goes to standard
    output; how long it is and what was changed goes to standard error. Nothing is stored and no
    model is used. Where a limit is what readers see and not what is refused, as for a newsletter's
    subject, the text is only counted, unless --cut is given.
    """
    from repurpose.cli._render import json_line
    from repurpose.errors import UsageError
    from repurpose.platforms import fit_post, platform_chosen, thread

    text = _read(source)
    chosen = [platform_chosen(name) for name in _listed(platforms)]
    if not chosen:
        raise UsageError("no platform is named", hint="see repurpose platforms")
    tags = _listed(hashtags)
    for place, platform in enumerate(chosen):
        if threads and (platform.thread or not any(each.thread for each in chosen)):
            posts = thread(
                text, platform, tags, link=link, disclosure=disclosure, language=language
            )
        else:
            posts = (
                fit_post(
                    text,
                    tags,
                    platform,
                    language=language,
                    segmenter=None,
                    title=title,
                    link=link,
                    disclosure=disclosure,
                    always=always,
                ),
            )
        if as_json:
            click.echo(json_line(_object(platform, posts, threads=threads)))
        else:
            _write(platform, posts, heading=len(chosen) > 1, first=place == 0)


def _read(source: str) -> str:
    """The text of a file or of standard input, without a byte order mark."""
    from repurpose.errors import SourceError

    if source == "-":
        raw = sys.stdin.buffer.read()
    else:
        try:
            raw = Path(source).read_bytes()
        except FileNotFoundError:
            raise SourceError("not-found", f"{source} does not exist") from None
        except OSError as fault:
            raise SourceError("unreadable", f"{source} cannot be read: {fault.strerror}") from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SourceError(
            "unsupported", f"{source} is no text in UTF-8", hint="convert it first"
        ) from None


def _listed(names: str) -> list[str]:
    return [name for each in names.split(",") if (name := each.strip())]


def _write(platform: Platform, posts: Sequence[FittedPost], *, heading: bool, first: bool) -> None:
    """The text on standard output, the facts on standard error."""
    from repurpose.platforms.threads import thread_text

    if heading:
        click.echo(f"{'' if first else chr(10)}# {platform.label}\n")
    if title := posts[0].title:
        click.echo(f"{title}\n")
    click.echo(thread_text(posts))
    for place, post in enumerate(posts, 1):
        name = f"{platform.label} {place}/{len(posts)}" if len(posts) > 1 else platform.label
        for fact in _facts(post):
            click.echo(f"{name}: {fact}", err=True)


def _facts(post: FittedPost) -> Iterator[str]:
    """How long a post is, and what was changed or is still too much."""
    from repurpose.cli._render import measures_phrase

    yield measures_phrase(post.measures)
    if post.title_measures:
        yield f"title: {measures_phrase(post.title_measures)}"
    yield from post.notes
    yield from post.over


def _object(platform: Platform, posts: Sequence[FittedPost], *, threads: bool) -> dict[str, object]:
    """What a program needs: the post, or the posts of a thread in order."""
    head: dict[str, object] = {"platform": platform.name, "label": platform.label}
    fits = {"fits": all(post.fits for post in posts)}
    if threads and platform.thread:
        return head | fits | {"posts": [_post_object(post) for post in posts]}
    return head | fits | _post_object(posts[0])


def _post_object(post: FittedPost) -> dict[str, object]:
    from dataclasses import asdict

    titled: dict[str, object] = {"title": post.title}
    if post.title_measures:
        titled["title_measures"] = asdict(post.title_measures)
    return {
        "text": post.text,
        "body": post.body,
        "hashtags": list(post.hashtags),
        **titled,
        **asdict(post.measures),
        "notes": list(post.notes),
        "over": list(post.over),
    }
