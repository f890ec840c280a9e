"""URL, key and proxy of an endpoint, and the list of secrets in them that must not be printed."""

from __future__ import annotations

import base64
import os
from ipaddress import ip_address
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

from hengwen.errors import ConfigError

NO_KEY = "no-key"
"""Key that is sent to local endpoints, which need no key."""
MIN_SECRET_LENGTH = 8
"""Minimum length of a secret that is hidden in messages; shorter ones are placeholders such as 'EMPTY'."""


class Endpoint:
    """URL, key and proxy of an endpoint, read once. Printing an Endpoint shows none of its secrets."""

    __slots__ = ("headers", "key", "proxy", "query", "secrets", "url")

    def __init__(self, base_url: str, api_key_env: str) -> None:
        parts = urlsplit(base_url)
        self.key = api_key_from(api_key_env)
        self.url = urlunsplit((parts.scheme, _host(parts.netloc), parts.path, "", ""))
        self.query = dict(parse_qsl(parts.query))
        basic = _basic_auth(parts.username, parts.password)
        self.headers = {"Authorization": basic} if basic else {}
        self.proxy = proxy_for(self.url)
        candidates = [
            self.key,
            *_passwords(base_url),
            *self.query.values(),
            *_passwords(self.proxy or ""),
            *(_credentials(url) for url in (base_url, self.proxy or "")),
        ]
        self.secrets = tuple(
            secret for secret in dict.fromkeys(candidates) if len(secret) >= MIN_SECRET_LENGTH
        )


def api_key_from(variable: str) -> str:
    """Return the key from an environment variable; "" if it is not set."""
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(f"the key in {variable} holds characters that no key has; set it again")
    return key


def validate_url(url: str) -> str:
    """Return a valid URL unchanged."""
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise ConfigError("base_url must be an address such as http://localhost:8080/v1")
    return url


def without_secrets(url: str) -> str:
    """Return a URL without user, password and query."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, _host(parts.netloc), parts.path.rstrip("/"), "", ""))


def is_local(url: str) -> bool:
    """Return whether a URL names this machine."""
    try:
        return _is_loopback(urlsplit(url).hostname or "")
    except ValueError:
        return False


def proxy_for(url: str) -> str | None:
    """Return the proxy for a URL from ``http_proxy``, ``https_proxy``, ``all_proxy`` and ``no_proxy``."""
    parts = urlsplit(url)
    if _is_loopback(parts.hostname or "") or proxy_bypass(parts.netloc):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy:
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    try:
        is_valid = urlsplit(proxy).scheme in ("http", "https") and bool(urlsplit(proxy).hostname)
    except ValueError:
        is_valid = False
    if not is_valid:
        raise ConfigError(
            "the proxy of the environment must be an address such as http://localhost:7890; "
            f"set {parts.scheme}_proxy to one, or no_proxy to the host of the endpoint"
        )
    return proxy


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _passwords(url: str) -> tuple[str, str]:
    """Return the password in a URL in two forms: decoded, and as written."""
    written = urlsplit(url).password or ""
    return unquote(written), written


def _credentials(url: str) -> str:
    """Return user and password of a URL as the header ``Authorization`` spells them; "" if it has none."""
    parts = urlsplit(url)
    return _basic_auth(parts.username, parts.password).removeprefix("Basic ").rstrip("=")


def _host(netloc: str) -> str:
    return netloc.rpartition("@")[2]


def _basic_auth(user: str | None, password: str | None) -> str:
    if user is None:
        return ""
    credentials = f"{unquote(user)}:{unquote(password or '')}"
    return f"Basic {base64.b64encode(credentials.encode()).decode()}"
