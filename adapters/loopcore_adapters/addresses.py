"""Addresses of servers: which texts are any, and which would show who asks."""

from urllib.parse import urlsplit


def is_address(url: str) -> bool:
    """Whether a request can be sent there as it stands.

    >>> is_address("https://host/v1"), is_address("host/v1")
    (True, False)
    """
    try:
        parts = urlsplit(url)
        return (
            url.isprintable()
            and " " not in url
            and parts.scheme in {"http", "https"}
            and bool(parts.hostname)
            and parts.port != 0
        )
    except ValueError:
        return False


def names_somebody(url: str) -> bool:
    """Whether it holds a name or a password: addresses are shown and kept."""
    return "@" in urlsplit(url).netloc
