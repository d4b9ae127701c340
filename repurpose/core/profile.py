"""What a kind of model server takes and does, as a value; the known ones stand in a data file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Literal

from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.errors import UsageError

__all__ = [
    "CACHE_WISHES",
    "SCHEMA_KINDS",
    "CacheKind",
    "CacheWish",
    "OutputParameter",
    "Profile",
    "SchemaKind",
]

SchemaKind = Literal["strict", "schema", "object", "none"]
CacheKind = Literal["none", "auto", "breakpoint"]
CacheWish = Literal["auto", "off", "on"]
OutputParameter = Literal["max_tokens", "max_completion_tokens"]

SCHEMA_KINDS: tuple[SchemaKind, ...] = ("strict", "schema", "object", "none")
"""From the strongest promise about the shape of an answer to none at all."""
CACHE_WISHES: tuple[CacheWish, ...] = ("auto", "off", "on")
"""What a user may say of prompts that begin alike."""


@dataclass(frozen=True, slots=True)
class Profile:
    """How a kind of server is spoken to.

    Whatever it promises, an answer is validated here. A profile decides how often that fails.

    Raises:
        UsageError: the shape is neither enforced by a schema nor told in the prompt.
    """

    name: str
    """What `--profile` takes; `NAME:KIND` where another kind than the profile's own is chosen."""
    label: str
    schema: SchemaKind
    """How the shape is asked for: `strict` and `schema` send the schema, the first as binding in
    OpenAI's sense; `object` asks for any JSON object; `none` sends no `response_format`."""
    schema_in_prompt: bool
    """Whether the system prompt must hold the schema; False where the server shows it itself."""
    content_parts: bool
    """Whether a message may be a list of parts."""
    cache: CacheKind
    """How a shared beginning of prompts is found again: never or nobody knows, by itself, or up to
    a mark that the caller sets, under a key of the caller's. It decides how prompts are laid out
    and changes no answer, so it is no part of any key."""
    output_parameter: OutputParameter
    """The name under which the server takes the most tokens of a reply."""
    source: str
    """Where these facts come from."""
    checked: str
    """The day on which the source was last read, as an ISO 8601 date."""
    hosts: tuple[str, ...] = ()
    """Patterns of hosts, with or without a port, that this profile is chosen by; `*` is any."""
    schema_first: bool = False
    """Whether the server puts the schema before the messages, so that prompts with different
    schemas never begin alike."""
    marked_models: tuple[str, ...] = ()
    """Patterns of models that take a mark; others refuse a request with one."""
    context_tokens: int | None = None
    """The prompt and reply that fit where the user set nothing; None where the model decides."""
    extra_body: JsonObject = field(default_factory=dict)
    """What else is sent, as it stands."""
    advice: str = ""
    """What a user of such a server should know, in whole sentences."""

    def __post_init__(self) -> None:
        if self.schema in ("object", "none") and not self.schema_in_prompt:
            raise UsageError(
                f"profile {self.name}: without a schema in the request it must stand in the prompt"
            )

    def asking(self, kind: SchemaKind) -> Profile:
        """This profile with another way of asking for the shape, under the name `NAME:KIND`.

        >>> lax = Profile("vllm", "vLLM", "schema", False, True, "auto", "max_tokens", "", "")
        >>> (lax.asking("object").name, lax.asking("object").schema_in_prompt)
        ('vllm:object', True)
        >>> lax.asking("schema") is lax
        True
        """
        if kind == self.schema:
            return self
        name = f"{self.name.partition(':')[0]}:{kind}"
        return replace(self, name=name, schema=kind, schema_in_prompt=True)

    @property
    def needs_one_schema(self) -> bool:
        """Whether the formats of a source share a beginning only under one and the same schema."""
        return self.schema_first and self.schema in ("strict", "schema")

    def takes_mark(self, model: str) -> bool:
        """Whether `model` takes a mark where the shared beginning ends.

        >>> some = Profile("x", "X", "schema", True, True, "auto", "max_tokens", "", "")
        >>> replace(some, cache="breakpoint", marked_models=("big-[6-9]*",)).takes_mark("big-7")
        True
        """
        known = (fnmatchcase(model, pattern) for pattern in self.marked_models)
        return self.cache == "breakpoint" and self.content_parts and any(known)

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """What of it changes a request, for the idempotency key.

        Holds no name, so that two profiles which send the same share results, and nothing that is
        sent where no profile is known: equal parameters mean equal requests all the same.
        """
        sent: dict[str, JsonValue] = {}
        if self.schema != "strict":
            sent["schema"] = self.schema
        if self.output_parameter != "max_tokens":
            sent["output_parameter"] = self.output_parameter
        if self.extra_body:
            sent["extra_body"] = dict(self.extra_body)
        return sent
