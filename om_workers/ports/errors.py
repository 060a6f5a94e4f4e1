"""Every error that crosses a port; what a caller sees of one is its message and its fields."""

from __future__ import annotations


class OmError(Exception):
    """Something went wrong in the memory service."""

    def __init__(self, message: str | None = None, **fields: object) -> None:
        super().__init__(message or (type(self).__doc__ or "").split("\n")[0])
        self.fields = fields


class TransientError(OmError):
    """The same call may succeed later."""


class PermanentError(OmError):
    """The same call cannot succeed."""


class ConflictError(OmError):
    """The call contradicts what is stored."""


class NotFoundError(OmError):
    """There is nothing under this id."""


class GoneError(NotFoundError):
    """What was under this id has been deleted."""


class InvalidInputError(PermanentError):
    """A value breaks its rule."""


class ForbiddenError(PermanentError):
    """The key does not allow this."""


class UnauthenticatedError(PermanentError):
    """A valid key is needed."""


class BusyError(TransientError):
    """The memory is locked by another writer; try again shortly."""


class StoreUnavailableError(TransientError):
    """The database does not answer."""


class StoreFullError(TransientError):
    """The database has no room for this write."""
