"""How alike two texts are, in any script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.text.likeness import NEAR_COPY, likeness

FERRY = "The night ferry to Sandvar carried 48,000 people last year, three times the forecast."
ELECTRIC = "Seit März fährt die Nachtfähre elektrisch. Die Fischer hören sie nicht mehr kommen."
JAPANESE = "夜間フェリーは昨年四万八千人を運びました。予測の三倍です。"
ARABIC = "الكهرباء تدفع العبّارة منذ مارس والصيادون لم يعودوا يسمعونها"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (FERRY, FERRY.upper() + "!"),
        (FERRY, "Last year 48,000 took the night ferry to Sandvar, three times the forecast."),
        (FERRY, "The night ferry to Sandvar carried 48,000 people last year: thrice as forecast."),
        (
            ELECTRIC,
            "Seit März fährt die Nachtfähre elektrisch, und Fischer hören sie nicht kommen.",
        ),
        (JAPANESE, "夜間フェリーは昨年四万八千人を運んだ。予測の三倍だ。"),
        (ARABIC, "منذ مارس والكهرباء تدفع العبّارة، والصيادون لم يعودوا يسمعونها"),
    ],
)
def test_what_was_only_reworded_is_a_near_copy(one: str, other: str) -> None:
    assert likeness(one, other) >= NEAR_COPY


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            FERRY,
            "48,000 passengers in a year: the night ferry to Sandvar beat its forecast thrice.",
        ),
        (
            FERRY,
            "No cars: the ferry to Sandvar has 120 hooks for bicycles, and cinnamon buns at four.",
        ),
        (ELECTRIC, "Die Batterie der Nachtfähre wiegt 19 Tonnen und kostet 800.000 Euro."),
        (JAPANESE, "三月から電気で走る夜間フェリー。漁師たちはもう音を聞かない。"),
        (ARABIC, "بطارية العبّارة تزن تسعة عشر طنا وتكلف ثمانمئة ألف يورو"),
    ],
)
def test_another_angle_on_the_same_subject_is_none(one: str, other: str) -> None:
    assert likeness(one, other) < NEAR_COPY


@pytest.mark.parametrize(("one", "other"), [("", ""), ("…", "!"), ("", "text")])
def test_texts_without_letters_are_not_alike(one: str, other: str) -> None:
    assert likeness(one, other) == 0


@given(st.text(), st.text())
def test_likeness_is_a_share_that_goes_both_ways(one: str, other: str) -> None:
    assert 0 <= likeness(one, other) == likeness(other, one) <= 1
