"""Where an endpoint is and how it is reached: address, key, proxy; and what of that must be shown nowhere."""

from __future__ import annotations

import base64
import os
from ipaddress import ip_address
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

from hengwen.errors import ConfigError

NO_KEY = "no-key"
"""Sent to endpoints of one's own that need none."""
SECRET_FROM = 8
"""Characters from which a key is a secret and not a word such as 'EMPTY'."""


class Endpoint:
    """How to reach an endpoint, read from its address and the environment once. It is never printed.

    Args:
        base_url: Of the endpoint, checked.
        api_key_env: The variable that holds the key.
    """

    __slots__ = ("headers", "key", "proxy", "query", "secrets", "url")

    def __init__(self, base_url: str, api_key_env: str) -> None:
        parts = urlsplit(base_url)
        self.key = api_key_from(api_key_env)
        self.url = urlunsplit((parts.scheme, _host(parts.netloc), parts.path, "", ""))
        self.query = dict(parse_qsl(parts.query))
        basic = _basic(parts.username, parts.password)
        self.headers = {"Authorization": basic} if basic else {}
        self.proxy = proxy_for(self.url)
        found = [self.key, *_passwords(base_url), *self.query.values(), *_passwords(self.proxy or "")]
        self.secrets = tuple(secret for secret in dict.fromkeys(found) if len(secret) >= SECRET_FROM)


def api_key_from(variable: str) -> str:
    """Return the key that a variable holds, or "".

    Raises:
        ConfigError: It holds what no header can carry; the message does not show it.
    """
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(f"the key in {variable} holds characters that no key has; set it again")
    return key


def validate_url(url: str) -> str:
    """Return an address as it is.

    Raises:
        ConfigError: It is none; the message does not show it.

    Examples:
        >>> validate_url("http://localhost:8080/v1")
        'http://localhost:8080/v1'
    """
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise ConfigError("base_url must be an address such as http://localhost:8080/v1")
    return url


def without_secrets(url: str) -> str:
    """Return an address without user, password and query.

    Examples:
        >>> without_secrets("http://me:pw@localhost:1/v1/?k=v")
        'http://localhost:1/v1'
    """
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, _host(parts.netloc), parts.path.rstrip("/"), "", ""))


def proxy_for(url: str) -> str | None:
    """Return the proxy for an address, by ``https_proxy``, ``all_proxy`` and ``no_proxy`` of the environment.

    This machine itself is reached without one, whatever is set.

    Raises:
        ConfigError: It is one that no call can take; the message does not show it.

    Examples:
        >>> proxy_for("http://localhost:8080/v1") is None
        True
    """
    parts = urlsplit(url)
    if _is_here(parts.hostname or "") or proxy_bypass(parts.netloc):
        return None
    known = getproxies()
    proxy = known.get(parts.scheme) or known.get("all")
    if not proxy:
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    try:
        good = urlsplit(proxy).scheme in ("http", "https") and bool(urlsplit(proxy).hostname)
    except ValueError:
        good = False
    if not good:
        raise ConfigError(
            "the proxy of the environment must be an address such as http://localhost:7890; "
            f"set {parts.scheme}_proxy to one, or no_proxy to the host of the endpoint"
        )
    return proxy


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _passwords(url: str) -> tuple[str, str]:
    """The password in an address, as it is meant and as it is written."""
    written = urlsplit(url).password or ""
    return unquote(written), written


def _host(netloc: str) -> str:
    return netloc.rpartition("@")[2]


def _basic(user: str | None, password: str | None) -> str:
    if user is None:
        return ""
    said = f"{unquote(user)}:{unquote(password or '')}"
    return f"Basic {base64.b64encode(said.encode()).decode()}"
