"""Voices of a settings file, and what is over them."""

from __future__ import annotations

from pathlib import Path

import pytest

from repurpose.config import Settings, from_environment, read_file
from repurpose.core.voice import Voice
from repurpose.errors import UsageError

ACME = """
voice = "acme"
audience = "everybody"
tone = "loud"
[voices.acme]
audience = "owners of small shops"
banned = ["cheap", " cheap", "game changer"]
disclaimer = " No advice. "
names = ["GitHub"]
samples = ["We open at nine."]
sample_files = ["voices/post.md"]
[voices.plain]
tone = "plain"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "voices").mkdir()
    (tmp_path / "voices" / "post.md").write_text("Bring a dog.", encoding="utf-8")
    path = tmp_path / "repurpose.toml"
    path.write_text(ACME, encoding="utf-8")
    return path


def chosen(file: Path, environment: dict[str, str] | None = None, **flags: object) -> Settings:
    return from_environment(environment or {}, file=read_file(file), **flags)


def test_a_voice_is_read_with_its_sample_files(file: Path) -> None:
    assert chosen(file).voice == Voice(
        "acme",
        audience="owners of small shops",
        banned=("cheap", "game changer"),
        disclaimer="No advice.",
        names=("GitHub",),
        samples=("We open at nine.", "Bring a dog."),
    )


@pytest.mark.parametrize(
    ("environment", "flags", "audience", "tone"),
    [
        ({}, {}, "owners of small shops", "loud"),
        ({}, {"voice": "plain"}, "everybody", "plain"),
        ({"REPURPOSE_VOICE": "plain"}, {}, "everybody", "plain"),
        ({"REPURPOSE_VOICE": "plain"}, {"voice": "acme"}, "owners of small shops", "loud"),
        ({"REPURPOSE_AUDIENCE": "CFOs"}, {}, "CFOs", "loud"),
        ({"REPURPOSE_AUDIENCE": "CFOs"}, {"audience": "owls"}, "owls", "loud"),
        ({}, {"voice": "plain", "tone": "dry"}, "everybody", "dry"),
    ],
)
def test_flags_are_over_the_environment_over_the_voice_over_the_file(
    file: Path, environment: dict[str, str], flags: dict[str, str], audience: str, tone: str
) -> None:
    settings = chosen(file, environment, **flags)
    assert (settings.audience, settings.tone) == (audience, tone)


def test_an_unknown_voice_names_the_nearest_and_where_to_declare_it(file: Path) -> None:
    with pytest.raises(UsageError, match=r"no voice 'acne'; did you mean acme\?") as told:
        chosen(file, voice="acne")
    assert "[voices.acne]" in (told.value.hint or "")
    with pytest.raises(UsageError, match="no voice 'acme'") as told:
        from_environment({}, voice="acme")
    assert "repurpose.toml, which is not found" in (told.value.hint or "")


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "cannot be read"), (b"\xff\xfe\xff", "is not UTF-8 text"), (b" \n", "is empty")],
)
def test_a_sample_file_that_cannot_be_used_is_told(
    file: Path, content: bytes | None, said: str
) -> None:
    sample = file.parent / "voices" / "post.md"
    sample.unlink()
    if content is not None:
        sample.write_bytes(content)
    with pytest.raises(UsageError, match=said) as told:
        chosen(file)
    assert "voice acme: sample file" in told.value.message
    assert chosen(file, voice="plain").voice is not None


def test_a_program_may_give_a_voice_as_a_value() -> None:
    voice = Voice("mine", tone="dry")
    assert from_environment({}, voice=voice).voice == voice
    assert from_environment({}, voice=voice).tone == "dry"
