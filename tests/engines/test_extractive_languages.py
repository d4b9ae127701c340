"""Eight languages: whatever the engine answers, its sentences are the source's own.

The plain text of a source is made here by another way than the engine's: rendered to HTML by
the parser's own renderer, then stripped of tags.
"""

from __future__ import annotations

import asyncio
import json
import re
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from markdown_it import MarkdownIt

from repurpose.core.call import Call, Reply
from repurpose.core.source import Source
from repurpose.engines._extract_language import language_named
from repurpose.engines.extractive import extractive_engine
from repurpose.platforms import platform_named
from repurpose.sources import load_path
from repurpose.text.counting import MEASURES

FORMATS = ("summary", "faq", "social", "newsletter")
ENGINE = extractive_engine()

ARTICLES = {
    "en": """\
# Why the *Ostra* lighthouse went dark

The lighthouse of Ostra shone for **147 years** before the harbour office switched it off in \
March. \
Satellites guide the ships today, and only [two fishing boats](https://ostra.example/boats) \
still asked for the lamp.

## What happened to the keeper?

Keeper Ida Lund moved to the village with her 14 lamps and a cat. She opens the tower every \
Sunday. \
Children may turn the great lens by hand; it weighs 600 kilograms.

## A lighthouse lens

A Fresnel lens is a ring of glass prisms that bundles light. The Fresnel lens of Ostra was cut \
in Paris in 1878. \
Experts value it at 90,000 euros &ndash; more than the tower.

> Nobody stole it in 147 years, says the keeper.
""",
    "de": """\
# Die Mühle von Kaltenbach mahlt wieder

Nach **62 Jahren** Stillstand dreht sich das Rad der Mühle von Kaltenbach. Zwölf Freiwillige \
haben es in \
drei Wintern aus Lärchenholz gebaut. Das kostete 48.000 Euro.

## Was kostet das Mehl?

Ein Kilo Mehl kostet im Laden der Mühle 2,80 Euro. Der Müller mahlt nur dienstags, weil der Bach \
dann am meisten Wasser führt. Trotzdem ist das Lager jeden Freitag leer.

## Strom aus dem Bach

Eine kleine Turbine liefert Strom für elf Häuser. Eine Turbine ist eine Maschine, die aus der \
Bewegung von Wasser \
Kraft gewinnt. Die Gemeinde spart dadurch 9.000 Euro im Jahr.
""",
    "ja": """\
# 廃線になった駅が**図書館**に変わった

山あいの小谷駅は三年前に廃線となったが、今年の春に図書館として開いた。
棚には住民が持ち寄った6,200冊の本が並ぶ。待合室の古い時計も動いている。

## 誰が運営しているのか？

図書館を運営しているのは、元の駅員と高校生あわせて14人である。鍵は当番が毎朝七時に開ける。\
利用者は一日に平均40人で、半分は観光客だという。

## 本のバスとは

本のバスとは、図書館の本を積んで集落を回る小さなバスのことである。この仕組みは県の賞を受けた。週に二回走り、[時刻表](https://kotani.example/bus)は駅に貼ってある。
""",
    "es": """\
# El mercado de Altamora cierra sin bolsas

El mercado de Altamora vendió en 2024 su última bolsa de plástico. Los 86 puestos usan ahora \
cajas \
de madera que los clientes devuelven cada semana. Pero no fue fácil.

## ¿Cuánto costó el cambio?

El ayuntamiento pagó 32.000 euros por 4.000 cajas. Cada caja dura *unos seis años* y se repara \
en el taller \
del barrio. Los vendedores ahorran 210 euros al mes en bolsas.

## Las reglas del mercado

Una caja perdida cuesta cinco euros al cliente. El mercado abre de martes a sábado desde las \
ocho. \
El domingo las cajas se lavan con agua de lluvia.
""",
    "zh": """\
# 老城墙上的**屋顶农场**

青石镇的居民把老城墙上的空地变成了屋顶农场。农场有120个木箱，每个木箱由一户人家照看。\
去年他们一共收获了3吨蔬菜。

## 谁来浇水？

浇水的人主要是附近中学的学生和退休工人。雨水先流进城墙下的水池，再用小水泵送上来。\
这样每年可以节省400吨自来水。

## 屋顶农场的收入

屋顶农场是一种建在建筑物顶部的小型菜园。农场的蔬菜一半送给社区食堂，另一半在[周末集市](https://qingshi.example)出售。
""",
    "ar": """\
# مكتبة متنقلة في جبال الريف

تجوب حافلة زرقاء قرى جبال الريف منذ عام 2019 وهي تحمل 3000 كتاب. يقود الحافلة معلم متقاعد مع \
ابنته كل أسبوع. \
استعار الأطفال 12000 كتاب في السنة الماضية.

## من يدفع ثمن الوقود؟

تدفع جمعية محلية ثمن الوقود من بيع العسل في السوق. تبلغ كلفة الرحلة الواحدة 40 درهما. \
لكن الأمطار تقطع الطريق في الشتاء.

## قائمة الكتب

يختار الأطفال عناوين الكتب الجديدة في كل قرية. تضم القائمة **قصصا** وكتبا عن النجوم والحيوانات.
""",
    "hi": """\
# गाँव का **सौर पंखा** कारखाना

रामपुर गाँव की 25 महिलाएँ हर महीने 600 सौर पंखे बनाती हैं। कारखाना एक पुराने स्कूल की इमारत में \
2021 से चल रहा है। \
यह काम पहले शहर में होता था।

## पंखे की कीमत क्या है?

एक पंखे की कीमत 900 रुपये है और वह पाँच साल चलता है। मरम्मत गाँव की दुकान में मुफ़्त होती है। \
बैटरी को रात में बदलना पड़ता है।

## आगे की योजना

महिलाएँ अगले साल सौर लालटेन भी बनाना चाहती हैं। बैंक ने उन्हें तीन लाख रुपये का कर्ज़ दिया है।
""",
    "fi": """\
# Saaren *viimeinen* kauppa avasi ovensa

Korpisaaren viimeinen kauppa avattiin uudelleen huhtikuussa kolmen vuoden tauon jälkeen. \
Kauppaa hoitaa \
osuuskunta, johon kuuluu 140 saarelaista. Se on auki joka päivä.

## Kuka seisoo kassalla?

Kassalla seisoo vuorollaan jokainen jäsen neljä tuntia kuukaudessa. Tavarat tulevat lautalla \
maanantaisin ja \
torstaisin. Suosituin tuote on saaren oma ruisleipä, jota myydään 300 kappaletta viikossa.

## Talous

Kaupan myynti oli ensimmäisenä vuonna 410 000 euroa. Osuuskunta maksoi lainansa takaisin [jo \
syksyllä](https://korpi.example).
""",
}  # fmt: skip


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)


def plain(markdown: str) -> str:
    """The text that a reader of the rendered page sees, white space removed."""
    renderer = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    words = _Words()
    words.feed(renderer.render(markdown))
    return bare("".join(words.pieces))


def bare(text: str) -> str:
    return re.sub(r"\s+", "", text)


def schema_of(name: str, root: Path) -> Any:
    path = root / "schemas" / f"{name}.schema.json"
    return json.loads(path.read_text(encoding="utf-8"))  # noqa: TID251 - our own file


async def _answered(call: Call) -> Reply:
    return await ENGINE.answer(call)


def reply_to(name: str, source: Source, root: Path) -> Reply:
    return asyncio.run(_answered(Call(name, "", "", schema_of(name, root), {}, source)))


def extracts(name: str, answer: Any) -> Iterator[str]:
    """Every string of an answer that has to be the source's own words."""
    match name:
        case "summary":
            yield from answer["sentences"]
        case "faq":
            yield from (line for pair in answer["pairs"] for line in pair["answer"].split("\n"))
        case "social":
            yield from (post["text"] for post in answer.values())
        case _:
            yield from (answer["preheader"], *answer["paragraphs"])


def in_source(text: str, reply: Reply, allowed: set[str]) -> bool:
    """Whether a text is made of quoted sentences and white space alone."""
    rest = bare(text.removeprefix("- "))
    for quote in sorted({bare(quote.text) for quote in reply.quotes} | allowed, key=len)[::-1]:
        rest = rest.replace(quote, "")
    return rest == ""


def assert_only_the_source_speaks(source: Source, root: Path) -> None:
    readable = plain(source.text)
    for name in FORMATS:
        reply = reply_to(name, source, root)
        for quote in reply.quotes:
            assert bare(quote.text) in readable
        answer = json.loads(reply.text)  # noqa: TID251 - our own answer
        jsonschema.validate(answer, schema_of(name, root))
        for text in extracts(name, answer):
            assert text.strip()
            assert in_source(text, reply, {bare(source.title or "")})
        for platform, post in answer.items() if name == "social" else ():
            rules = platform_named(platform)
            gap = " " if rules.hashtags_after == "space" else "\n\n"
            tags = [f"#{tag}" for tag in post["hashtags"]]
            assert all(re.fullmatch(r"#[^\s#]+", tag) for tag in tags)
            length = MEASURES[rules.unit](gap.join([post["text"], *filter(None, [" ".join(tags)])]))
            assert length <= rules.limit


def article(language: str, **facts: Any) -> Source:
    return Source(ARTICLES[language], "-", "markdown", language=language, **facts)


@pytest.mark.parametrize("language", ARTICLES)
def test_every_sentence_of_every_answer_is_one_of_the_sources(language: str, root: Path) -> None:
    assert_only_the_source_speaks(article(language), root)


@pytest.mark.parametrize("language", ARTICLES)
def test_each_quote_says_where_it_stands(language: str, root: Path) -> None:
    source = article(language)
    for name in FORMATS:
        quotes = reply_to(name, source, root).quotes
        assert quotes
        for quote in quotes:
            assert plain(source.text[quote.start : quote.end]) == bare(quote.text)


@pytest.mark.parametrize("language", ARTICLES)
def test_a_question_heading_is_found_in_every_language(language: str, root: Path) -> None:
    answer = json.loads(reply_to("faq", article(language), root).text)  # noqa: TID251 - ours
    headings = re.findall(r"^## (.+)$", ARTICLES[language], re.MULTILINE)
    assert answer["pairs"][0]["question"] == next(h for h in headings if h[-1] in "?？؟")


@pytest.mark.parametrize("language", ARTICLES)
def test_a_summary_leaves_out_what_leans(language: str, root: Path) -> None:
    leaning = {
        "en": "She opens the tower every Sunday.",
        "de": "Trotzdem ist das Lager jeden Freitag leer.",
        "ja": "この仕組みは県の賞を受けた。",
        "es": "Pero no fue fácil.",
        "zh": "这样每年可以节省400吨自来水。",
        "ar": "لكن الأمطار تقطع الطريق في الشتاء.",
        "hi": "यह काम पहले शहर में होता था।",
        "fi": "Se on auki joka päivä.",
    }[language]
    assert leaning in ARTICLES[language].replace("\\\n", "")
    answer = json.loads(reply_to("summary", article(language), root).text)  # noqa: TID251 - ours
    assert leaning not in answer["sentences"]
    assert len(answer["sentences"]) >= 4


@pytest.mark.parametrize("language", ["ja", "zh"])
def test_sentences_without_spaces_are_joined_without_spaces(language: str, root: Path) -> None:
    answer = json.loads(reply_to("newsletter", article(language), root).text)  # noqa: TID251 - ours
    assert "。 " not in answer["paragraphs"][0]


@pytest.mark.parametrize("language", ARTICLES)
def test_our_own_words_are_in_the_articles_language(language: str, root: Path) -> None:
    known = language_named(language)
    assert known.read_more
    source = article(language, url="https://a.example/b")
    answer = json.loads(reply_to("newsletter", source, root).text)  # noqa: TID251 - ours
    assert answer["callToAction"] == known.read_more.format("https://a.example/b")


def test_every_entry_about_a_language_can_be_used() -> None:
    text = files("repurpose.engines").joinpath("extract_languages.toml").read_text("utf-8")
    for code in tomllib.loads(text)["languages"]:
        known = language_named(code)
        for template in filter(None, (known.about, known.read_more)):
            assert template.count("{}") == 1
        for definition in known.definitions:
            assert "x" in definition.pattern.groupindex
            assert definition.question.count("{}") == 1
        assert all(word == word.lower() for word in known.stop_words | known.openers)


def test_a_language_nobody_listed_is_known_to_be_unknown() -> None:
    known = language_named("xx")
    assert (known.stemmer, known.about, known.asks) == (None, None, None)
    assert not known.stop_words


@pytest.mark.shared
@pytest.mark.parametrize(
    "name",
    [
        "md/toml-front-matter-de.md",
        "md/ja-metrics.md",
        "md/fr-metrics.md",
        "md/es-getting-paid.md",
        "md/hi-starting-a-project.md",
        "md/ar-finding-users.md",
        "md/zh-hans-finding-users.md",
        "md/no-front-matter-transcripts.md",
        "html/v8-standalone-wasm.html",
        "html/wikimedia-interactive-maps.html",
        "html/globalvoices-nicaragua-de.html",
    ],
)
def test_articles_of_the_corpus_speak_for_themselves(name: str, shared: Path, root: Path) -> None:
    assert_only_the_source_speaks(load_path(shared / "corpus" / name), root)


@pytest.mark.shared
def test_what_an_article_plants_for_machines_is_not_published(shared: Path, root: Path) -> None:
    source = load_path(shared / "corpus/md/injection-fence-spellings.md")
    assert_only_the_source_speaks(source, root)
    for name in FORMATS:
        text = reply_to(name, source, root).text
        for planted in ("cures colds", "burned down", "evil.example", "previous instructions"):
            assert planted not in text
