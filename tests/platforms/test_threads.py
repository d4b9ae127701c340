"""One long text as several posts: each fits, nothing is lost, nothing said twice."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from repurpose.errors import UsageError
from repurpose.platforms import PLATFORMS, FittedPost, Platform, thread
from repurpose.platforms.threads import DELIMITER, thread_text
from repurpose.text.counting import MEASURES
from repurpose.text.trimming import trimmed

FERRY = "The night ferry leaves Port Ellis at ten and carries no cars at all. "  # 69 characters
THREADED = [each for each in PLATFORMS.values() if each.thread]


def said(text: str) -> str:
    """A text without white space and what cannot be seen."""
    return "".join("".join(text.split()).translate(dict.fromkeys(map(ord, "\u200b\u2060\ufeff"))))


def bodies(posts: tuple[FittedPost, ...]) -> str:
    return "".join(post.body for post in posts)


def test_a_text_that_fits_is_one_post_without_a_number() -> None:
    (post,) = thread(FERRY, "x", ["ferry"])
    assert post.text == FERRY.strip() + " #ferry"


def test_posts_end_with_sentences_and_are_numbered_in_order() -> None:
    posts = thread(FERRY * 9, "x")
    assert [post.text.split("\n\n")[-1] for post in posts] == ["1/3", "2/3", "3/3"]
    assert all(post.body.endswith("at all.") for post in posts)
    assert bodies(posts).replace(" ", "") == (FERRY * 9).replace(" ", "")
    assert [post.measures.length for post in posts] == [280, 280, 73]


def test_the_number_counts() -> None:
    """Four sentences are 275 weighted characters, which leaves room for `1/2` and no more."""
    assert len(thread(FERRY * 5, "x")) == 2
    assert thread(FERRY * 5, "x=279")[0].body.count("Port Ellis") == 3


def test_ten_posts_and_more_leave_room_for_two_digits() -> None:
    posts = thread(FERRY * 60, "x")
    assert posts[11].text.endswith(f"\n\n12/{len(posts)}")
    assert all(post.measures.length <= 280 for post in posts)
    assert said(bodies(posts)) == said(FERRY * 60)


def test_a_post_rather_ends_with_its_paragraph() -> None:
    text = FERRY * 3 + "\n\n" + FERRY * 3
    assert [post.body.count("Ellis") for post in thread(text, "x")] == [3, 3]
    first, *_ = thread("Ahoy.\n\n" + FERRY * 5, "x")
    assert first.body == "Ahoy.\n\n" + (FERRY * 3).strip()  # one word is too little for a post


def test_a_sentence_that_fits_a_post_is_never_broken() -> None:
    long = "Passengers push their bicycles into a hall, " * 5 + "and then they sleep until the end."
    posts = thread("A short one that stands alone. " + long, "x")
    assert [post.body for post in posts] == ["A short one that stands alone.", long]


def test_a_longer_sentence_is_parted_at_clauses_without_an_ellipsis() -> None:
    long = "passengers push their bicycles into the hall of the ship, " * 9 + "and sleep."
    posts = thread(long, "x")
    assert all(post.body.endswith(",") for post in posts[:-1])
    assert "…" not in bodies(posts)
    assert said(bodies(posts)) == said(long)


def test_words_links_and_mentions_stay_whole() -> None:
    text = "ferry https://example.com/a/b?c=d.e @captain@ship.example 12.5 " * 30
    for platform in THREADED:
        posts = thread(text, platform)
        assert [word for post in posts for word in post.body.split()] == text.split()


def test_a_word_longer_than_a_post_is_parted_and_nothing_of_it_is_lost() -> None:
    posts = thread("a" * 700, "x")
    assert bodies(posts) == "a" * 700
    assert len(posts) == 3


def test_hashtags_and_link_stand_in_the_last_post_and_the_disclosure_in_the_first() -> None:
    posts = thread(FERRY * 9, "x", ["ferry", "night"], link="https://example.com/", disclosure="Ad")
    assert posts[0].text.endswith("at all.\nAd\n\n1/3")
    assert posts[-1].text.endswith(" https://example.com/ #ferry #night\n\n3/3")
    assert all("#" not in post.text and "https" not in post.text for post in posts[:-1])
    assert posts[-1].hashtags == ("#ferry", "#night")


def test_hashtags_that_do_not_fit_the_last_post_get_one_of_their_own() -> None:
    posts = thread(FERRY * 8, "x", ["a" * 60, "b" * 60])
    assert [post.body.count("Ellis") for post in posts] == [4, 4, 0]
    assert posts[-1].text == f"#{'a' * 60} #{'b' * 60}\n\n3/3"


def test_hashtags_that_end_the_text_go_to_the_end_with_the_others() -> None:
    posts = thread(FERRY * 9 + "#sea #ferry", "bluesky", ["ferry"])
    assert posts[-1].hashtags == ("#ferry", "#sea")
    assert bodies(posts).count("#") == 0


def test_each_post_keeps_the_platforms_number_of_hashtags() -> None:
    posts = thread("We met the #choir and the #town. " * 30, "threads", ["growth"])
    assert len(posts) > 1
    assert all(post.text.count("#") == 1 for post in posts)
    assert said(bodies(posts)).replace("#", "") == said("We met the choir and the town." * 30)


def test_a_text_without_stops_is_parted_at_its_spaces() -> None:
    text = "ไม่มีรถยนต์บนเรือข้ามฟากกลางคืน " * 30
    posts = thread(text, "x", language="th")
    assert said(bodies(posts)) == said(text)
    assert all(post.measures.length <= 280 for post in posts)


def test_a_run_of_another_direction_is_not_left_open() -> None:
    posts = thread("\u2067" + "שלום עולם. " * 60 + "\u2069", "x", language="he")
    assert posts[0].body[0] == "\u2067"
    assert "\u2069\n\n1/" in posts[0].text
    assert "\u2069" not in posts[0].body


def test_bytes_count_where_the_platform_counts_them() -> None:
    for post in thread("Größe ändert äußerst öfter über Ölflächen. " * 30, "threads"):
        assert len(post.text.encode()) <= 500


def test_as_one_text_posts_have_a_line_between_them() -> None:
    posts = thread(FERRY * 9, "x")
    assert thread_text(posts).split(DELIMITER) == [post.text for post in posts]
    assert DELIMITER.strip() == "* * *"


@pytest.mark.parametrize("name", ["linkedin", "reddit", "newsletter_subject"])
def test_platforms_without_threads_are_refused_and_those_with_are_named(name: str) -> None:
    with pytest.raises(UsageError, match="has no threads") as caught:
        thread("One. Two.", name)
    assert caught.value.hint == "those that have: x, threads, bluesky, mastodon"


def test_a_limit_that_has_no_room_for_a_number_is_refused() -> None:
    with pytest.raises(UsageError, match="leaves no room for a thread"):
        thread("One. " * 40, "x=20", disclosure="Adverts")


FRAGMENTS = st.sampled_from(
    [
        "One short sentence. ", "word ", "Größe ", "界面。", "👨‍👩‍👧‍👦", "e\u0301", "\n\n", "\r\n",
        "… ", "https://example.com/a/long/path ", ". ", "tag, ", "@user ", "\u200d", "नमस्ते। ",
        "a" * 90, "! ", "\u2067", "\u2069", "ไทยไม่มี", "؟ ", " — ", "12.5 ",
    ]
)  # fmt: skip


@given(
    text=st.lists(FRAGMENTS | st.text(max_size=8), min_size=1, max_size=60).map("".join),
    repeat=st.sampled_from([1, 5, 20]),
    platform=st.sampled_from(THREADED),
    link=st.sampled_from(["", "https://example.com/a"]),
)
@settings(max_examples=40, deadline=None)
def test_nothing_is_lost_nothing_said_twice_and_every_post_fits(
    text: str, repeat: int, platform: Platform, link: str
) -> None:
    whole = trimmed(text.replace("#", "").replace("＃", "").translate({0xFFFE: None, 0xFFFF: None}))
    assume(whole)
    posts = thread(whole * repeat, platform, ["ferry"], link=link)
    for post in posts:
        assert MEASURES[platform.unit](post.text) <= platform.limit
        assert platform.also is None or len(post.text.encode()) <= platform.also.limit
        assert trimmed(post.text.rpartition("\n\n")[0] if len(posts) > 1 else post.text)
    if len(posts) > 1:
        assert said(bodies(posts)) == said(whole * repeat)
        assert [post.text.rpartition("\n\n")[2] for post in posts] == [
            f"{place}/{len(posts)}" for place in range(1, len(posts) + 1)
        ]


def test_the_work_grows_with_the_text_and_no_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = 0

    def tallied(text: str) -> int:
        nonlocal looked_at
        looked_at += len(text)
        return len(text)

    monkeypatch.setattr("repurpose.platforms._rules.MEASURES", {"x_weighted": tallied})
    spent = []
    for times in (450, 900):
        looked_at = 0
        thread(FERRY * times, "x")
        spent.append(looked_at)
    assert all(after <= 2.4 * before for before, after in pairwise(spent))
    assert spent[-1] <= 20 * 900 * len(FERRY)
