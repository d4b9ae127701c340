"""What a run can be written as. `EXPORTS` names the members; none is imported before its use."""

from __future__ import annotations

__all__ = ["EXPORTS"]

EXPORTS: dict[str, str] = {
    "markdown": "repurpose.exports.markdown:markdown_export",
    "json": "repurpose.exports.json:json_export",
}
"""From a form's name to its `Export`, `module:function`, loaded on use."""
