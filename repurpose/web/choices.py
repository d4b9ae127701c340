"""What the page may choose, and under which settings a wish is carried out.

Model, voice, language, audience, tone, platforms and formats are anybody's choice. Addresses, keys,
proxies, private networks and files of this machine are the operator's alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from repurpose.config import ENDPOINT, LOCAL, Settings
from repurpose.core.composite import Composite
from repurpose.errors import RepurposeError, UsageError
from repurpose.formats import FORMATS, Formats, known_formats, label_of
from repurpose.platforms import DEFAULT_PLATFORMS, PLATFORMS, changed, chosen_platforms
from repurpose.web.bodies import Wish

__all__ = ["Choices", "Resolve"]

Resolve = Callable[[Mapping[str, Any]], Settings]
"""From what was chosen, by the fields of `Settings` (a voice by its name), to the settings."""
_LANGUAGES = ("en", "de", "fr", "es", "it", "pt-BR", "nl", "pl", "sv", "da", "nb", "fi", "cs")
_MORE_LANGUAGES = ("el", "tr", "uk", "ru", "ar", "hi", "ja", "ko", "zh-Hans")


@dataclass(frozen=True, slots=True)
class Choices:
    """What can be chosen under the operator's settings."""

    settings: Settings
    resolve: Resolve
    voices: Sequence[str] = ()
    """The names of the settings file's voices."""

    @classmethod
    def of(
        cls, settings: Settings, resolve: Resolve | None = None, voices: Sequence[str] = ()
    ) -> Choices:
        """The choices under these settings; without `resolve`, no voice but theirs."""
        own = settings.voice

        def replaced(chosen: Mapping[str, Any]) -> Settings:
            fields = dict(chosen)
            name = fields.pop("voice", None)
            if name is not None and (own is None or own.name != name):
                raise UsageError(f"no voice {name[:60]!r}")
            return replace(settings, **fields)

        return cls(settings, resolve or replaced, voices or ((own.name,) if own else ()))

    @property
    def known(self) -> Formats:
        """The formats that can be asked for."""
        settings = self.settings
        return known_formats(settings.formats_dir, settings.declared, beside=settings.folder)

    def settings_for(self, wish: Wish) -> Settings:
        """The settings under which a wish is carried out.

        Raises:
            UsageError: a value that cannot be used, or is not the page's to choose.
        """
        named = ("voice", "language", "audience", "tone", "model", "platforms", "formats")
        chosen = {name: getattr(wish, name) for name in named if getattr(wish, name) is not None}
        model = chosen.get("model")
        if model == self.settings.model:
            chosen.pop("model", None)
        elif model is not None and self._endpoint:
            raise UsageError(
                f"texts are written by {self.settings.engine} here, so no model is chosen",
                hint="leave the model empty",
            )
        elif model is not None and model.startswith(LOCAL):
            raise UsageError(
                "a model in a file of this machine is not chosen here",
                hint=f"start with: repurpose serve --model {LOCAL}PATH",
            )
        settings = self.resolve(chosen)
        chosen_platforms(settings.platforms)
        return settings

    def composites(self) -> list[Composite]:
        """The composites that are declared, without those that cannot be used."""
        from repurpose.api._declared_composites import checked_composite  # noqa: PLC0415

        found = []
        for name, table in self.settings.composites.items():
            try:
                found.append(checked_composite(name, table))
            except UsageError:  # repurpose check tells why
                continue
        return found

    def to_map(self) -> dict[str, object]:
        """All of it for the page and for programs."""
        return {
            "formats": self.formats(),
            "platforms": list(self._platforms()),
            "voices": list(self.voices),
            "composites": [
                {
                    "name": each.name,
                    "version": each.version,
                    "sections": [
                        {"name": part.name, "label": part.label or part.name, "input": part.input}
                        for part in each.sections
                    ],
                }
                for each in self.composites()
            ],
            "model": self.settings.model,
            "endpoint": self._endpoint,
            "languages": sorted(
                {*_LANGUAGES, *_MORE_LANGUAGES, *filter(None, [self.settings.language])}
            ),
        }

    @property
    def _endpoint(self) -> str | None:
        """The endpoint that writes here; where there is one, no model is chosen."""
        engine = self.settings.chosen_engine
        return engine.removeprefix(ENDPOINT) if engine.startswith(ENDPOINT) else None

    def formats(self) -> list[dict[str, object]]:
        """Each format by name and label."""
        return [
            {"name": name, "label": self._label(name), "custom": name not in FORMATS}
            for name in self.known.names()
        ]

    def _label(self, name: str) -> str:
        try:
            return self.known.named(name).label
        except RepurposeError:  # told when it is asked for
            return label_of(name)

    def _platforms(self) -> Sequence[dict[str, object]]:
        default = chosen_platforms(self.settings.platforms or DEFAULT_PLATFORMS)
        found = []
        for platform in PLATFORMS.values():
            if not platform.post:
                continue
            used = default.get(platform.name, platform)
            used = changed(used, self.settings.limits.get(platform.name, {}))
            found.append(
                {
                    "name": platform.name,
                    "label": platform.label,
                    "limit": used.limit,
                    "unit": used.unit,
                    "default": platform.name in default,
                }
            )
        return found
