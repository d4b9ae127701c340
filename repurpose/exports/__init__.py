"""What a run and a composite can be written as; the tables name the members.

None is imported before its use.
"""

from __future__ import annotations

__all__ = ["EXPORTS", "RENDERERS"]

EXPORTS: dict[str, str] = {
    "markdown": "repurpose.exports.markdown:markdown_export",
    "json": "repurpose.exports.json:json_export",
}
"""From a form's name to its `Export`, `module:function`, loaded on use."""

RENDERERS: dict[str, str] = {
    "markdown": "repurpose.exports.composite_markdown:composite_markdown",
    "html": "repurpose.exports.composite_html:composite_html",
    "json": "repurpose.exports.composite_json:composite_json",
}
"""From a renderer's name to its `Renderer`, likewise."""
