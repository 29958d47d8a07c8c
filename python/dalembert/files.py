"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import Any, Iterator, Union

from .errors import FileError

__all__ = ["keeping", "make_folder", "read", "replace"]


def replace(path: Union[str, "os.PathLike[str]"], data: Union[str, bytes]) -> None:
    """Writes a file beside its place and moves it there: what was there before stays if that cannot be done, as on a full disk."""
    place = os.path.realpath(path)
    folder, name = os.path.split(place)
    draft = os.path.join(folder, f".{name}.writing-{os.getpid()}")
    try:
        try:
            with open(draft, "wb") as file:
                file.write(data.encode() if isinstance(data, str) else data)
                file.flush()
                os.fsync(file.fileno())
            if os.path.exists(place):
                shutil.copymode(place, draft)
            os.replace(draft, place)
        except BaseException:
            if os.path.exists(draft):
                os.unlink(draft)
            raise
    except OSError as error:
        raise _told("write", path, error) from None


def read(path: Union[str, "os.PathLike[str]"]) -> str:
    """The text of a file."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except UnicodeDecodeError as error:
        raise FileError(f"cannot read `{os.fspath(path)}`: it is not UTF-8 text: {error.reason} at byte {error.start}") from None
    except OSError as error:
        raise _told("read", path, error) from None


def make_folder(path: Union[str, "os.PathLike[str]"]) -> None:
    """Makes a folder, unless it is there."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise _told("make the folder", path, error) from None


@contextmanager
def keeping(result: Any) -> Iterator[None]:
    """Hands what was computed over with the error, if it cannot be written."""
    try:
        yield
    except FileError as error:
        error.result = result
        raise


def _told(what: str, path: Any, error: OSError) -> FileError:
    told = FileError(f"cannot {what} `{os.fspath(path)}`: {error.strerror or error}")
    told.errno = error.errno
    return told
