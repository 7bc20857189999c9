"""The command line in this process, in an empty folder."""

from tests.cli.conftest import tidelog

__all__ = ["tidelog"]
