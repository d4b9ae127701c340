"""Settings: what a file, the environment and flags say, checked and with defaults.

Secrets come from the environment only and never appear in a representation or a message. A file
decides where text and key are sent, so it is looked for upwards from the working directory, and
told when it is used.
"""

from __future__ import annotations

from repurpose.config._file import NAME, ConfigFile, faults_in, find_file, read_file
from repurpose.config._keys import KEYS, nearest, shown
from repurpose.config._resolving import (
    Origin,
    database_in,
    file_in_force,
    from_environment,
    origins,
    place_of_file,
    read_settings,
)
from repurpose.config._settings import (
    ENDPOINT,
    LOCAL,
    REQUEST_SECONDS,
    Settings,
    default_database,
)

__all__ = [
    "ENDPOINT",
    "KEYS",
    "LOCAL",
    "NAME",
    "REQUEST_SECONDS",
    "ConfigFile",
    "Origin",
    "Settings",
    "database_in",
    "default_database",
    "faults_in",
    "file_in_force",
    "find_file",
    "from_environment",
    "nearest",
    "origins",
    "place_of_file",
    "read_file",
    "read_settings",
    "shown",
]
