"""What may be asked with a body, and in which words it is refused."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    ValidationError,
    model_validator,
)

from repurpose.web.faults import HttpFault

__all__ = [
    "Body",
    "Counting",
    "Edit",
    "Nothing",
    "Regeneration",
    "Signed",
    "Start",
    "Wish",
    "checked",
]


def _blank_is_none(value: object) -> object:
    return None if isinstance(value, str) and not value.strip() else value


def _most(length: int) -> StringConstraints:
    return StringConstraints(strip_whitespace=True, max_length=length)


_BLANK = BeforeValidator(_blank_is_none)
_Word = Annotated[Annotated[str, _most(100)] | None, _BLANK]
_Line = Annotated[Annotated[str, _most(500)] | None, _BLANK]
_Lines = Annotated[Annotated[str, _most(2_000)] | None, _BLANK]
_Address = Annotated[Annotated[str, _most(4_000)] | None, _BLANK]
_Person = Annotated[Annotated[str, _most(80)] | None, _BLANK]
_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
_Names = Annotated[tuple[_Name, ...], Field(min_length=1, max_length=50)]
Id = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]


class Body(BaseModel):
    """A JSON object with no other keys than these."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=False)


class Nothing(Body):
    """An empty object."""


class Wish(Body):
    """A source, given in one of three ways, and what to make of it."""

    text: Annotated[str | None, Field(description="The source itself, at most 5 MB.")] = None
    url: Annotated[_Address, Field(description="A public web address.")] = None
    upload: Annotated[Id | None, Field(description="An id from POST /api/uploads.")] = None
    title: _Line = None
    formats: Annotated[
        _Names | None, Field(description="By name; without it, those of the settings.")
    ] = None
    composite: Annotated[_Word, Field(description="A composite to make, in place of formats.")] = (
        None
    )
    platforms: Annotated[
        _Names | None, Field(description="Where posts are for: x, x=premium, mastodon=1000.")
    ] = None
    voice: Annotated[_Word, Field(description="A voice of the settings file.")] = None
    language: Annotated[_Word, Field(description="A code such as en or pt-BR.")] = None
    audience: _Lines = None
    tone: _Lines = None
    model: Annotated[_Line, Field(description="Without it, that of the settings.")] = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        self._check()
        return self

    def _check(self) -> None:
        given = [name for name in ("text", "url", "upload") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError("give exactly one of text, url and upload")
        if self.composite is not None and self.formats is not None:
            raise ValueError("a composite names its formats itself; give one of the two")


class Start(Wish):
    """As for a plan, or the id of one that was made before."""

    plan: Annotated[Id | None, Field(description="An id from POST /api/plan, alone.")] = None

    def _check(self) -> None:
        if self.plan is None:
            super()._check()
        elif self.model_fields_set != {"plan"}:
            raise ValueError("a plan has its source and wishes; give it alone")


class Signed(Body):
    """Who does it."""

    by: Annotated[_Person, Field(description="A person's name, kept with the revision.")] = None


class Regeneration(Signed):
    """How a section is to be written anew."""

    instruction: Annotated[_Lines, Field(description="Such as: shorter, no jargon.")] = None
    all_variants: Annotated[
        bool, Field(alias="allVariants", description="Whether all posts of the format are replaced")
    ] = False


class Edit(Signed):
    """A person's own text, or the fields of a format that has several."""

    text: str | None = None
    content: dict[str, JsonValue] | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Edit:
        if (self.text is None) == (self.content is None):
            raise ValueError("give either text or content")
        return self


class Counting(Body):
    """A text to count as a platform counts it."""

    platform: _Name
    text: str


def checked(body: type[Body], raw: bytes) -> Body:
    """The body of a request.

    Raises:
        HttpFault: it is no such JSON object; the message names the first fault and shows no value.
    """
    try:
        return body.model_validate_json(raw or b"{}")
    except ValidationError as refused:
        fault = refused.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(map(str, fault["loc"])) or None
        words = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "json_invalid":
            words, field = "the body is no JSON", None
        elif fault["type"] == "extra_forbidden":
            words = "is not known"
        message = f"{field}: {words}" if field else words
        raise HttpFault(422, "body", message[:300], field=field) from None
