"""Addresses that users give: paths of this machine, `file:` URLs, and URLs such as `https://…` and `s3a://…`.

Each function returns the path for an address, or raises `UsageError` if the address cannot be used for that purpose.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from tidelog.errors import UsageError

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(/+)")  # one slash is enough, because `Path` joins slashes
_NETWORK = ("http", "https", "ftp", "ftps", "sftp")

Address = str | Path


def scheme_of(address: Address) -> str:
    """The scheme of a URL in lower case; '' for a path.

    >>> scheme_of("S3A://bucket/a.nt"), scheme_of("data/a.nt"), scheme_of("c:/a.nt")
    ('s3a', '', '')
    """
    found = _SCHEME.match(str(address))
    return found[1].lower() if found else ""


def data_address(address: Address) -> Path | str:
    """The path of data to read, or its URL if only Spark can read it.

    >>> data_address("file:///tmp/a%20b.nt"), data_address("hdfs://host/a.nt")
    (PosixPath('/tmp/a b.nt'), 'hdfs://host/a.nt')
    """
    scheme = scheme_of(address)
    if scheme in ("", "file"):
        return _file_path(address)
    if scheme in _NETWORK:
        raise UsageError(
            f"{shown(address)}: tidelog reads nothing from the network; download the file and give its path"
        )
    return shown(address)


def text_path(address: Address) -> Path:
    """The path of a program or a query to read."""
    path = data_address(address)
    if isinstance(path, Path):
        return path
    raise UsageError(
        f"{path}: programs and queries are read from paths of this machine, not from {scheme_of(path)}://; "
        "copy the file here and give its path"
    )


def output_path(address: Address) -> Path:
    """The path of a file or folder to write."""
    scheme = scheme_of(address)
    if scheme in ("", "file"):
        return _file_path(address)
    raise UsageError(
        f"{shown(address)}: tidelog writes to paths of this machine, not to {scheme}://; "
        "give a path, and copy the files from there"
    )


def directory_path(address: Address) -> Path:
    """The path of a knowledge base."""
    scheme = scheme_of(address)
    if scheme in ("", "file"):
        return _file_path(address)
    raise UsageError(
        f"{shown(address)}: a knowledge base is a directory that this machine can reach by a path, "
        f"not one on {scheme}://; give a path"
    )


def shown(address: Address) -> str:
    """The text of an address. A `Path` has lost a slash of a URL; this adds it again."""
    text = str(address)
    return _SCHEME.sub(r"\1://", text, count=1) if isinstance(address, Path) else text


def _file_path(address: Address) -> Path:
    text = str(address)
    if not scheme_of(address):
        return Path(address)
    rest = text.partition(":")[2]
    host, _, path = rest[2:].partition("/") if rest.startswith("//") else ("", "", rest[1:])
    if host not in ("", "localhost"):
        raise UsageError(
            f"{shown(address)}: this is a file of the machine {host}; "
            "give a path of this machine, as in file:///folder/file"
        )
    return Path("/", unquote(path))
