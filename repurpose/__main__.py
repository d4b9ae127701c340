"""`python -m repurpose` is the `repurpose` command."""

from __future__ import annotations

from repurpose.cli import main

if __name__ == "__main__":
    main()
