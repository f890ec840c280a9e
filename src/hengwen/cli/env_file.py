"""Read API keys, endpoint URLs and options of Hengwen from ``.env`` in this folder or a folder above."""

from __future__ import annotations

import os
import re

from hengwen.cli.ui.messages import print_info, print_warning

_ALLOWED = re.compile(r"[A-Za-z0-9_]*_(?:API_KEY|BASE_URL)|HENGWEN_[A-Za-z0-9_]*")
_CONNECTION = re.compile(r"\w*_proxy|ssl_cert_\w+|requests_ca_bundle|curl_ca_bundle", re.IGNORECASE)
"""Names of variables that would change how endpoints are reached; they are ignored with a message."""


def read_env_file() -> None:
    """Set variables from ``.env`` in the current folder or the nearest folder above, and print its path."""
    from dotenv import dotenv_values, find_dotenv

    from hengwen.errors import ConfigError

    path = find_dotenv(usecwd=True)
    if not path:
        return
    try:
        values = dotenv_values(path, interpolate=False)
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from None
    ignored = sorted(name for name in values if _CONNECTION.fullmatch(name))
    if ignored:
        print_warning(
            f"{path}: ignored {', '.join(ignored)}; set proxies and certificates in the environment itself"
        )
    new = {
        name: value
        for name, value in values.items()
        if value is not None and _ALLOWED.fullmatch(name) and name not in os.environ
    }
    os.environ.update(new)
    if new:
        print_info(f"hengwen: {path}: read {', '.join(sorted(new))}")
