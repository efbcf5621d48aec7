"""What may be raised. A tool call may not: it reports failure in its result."""


class VerifiError(Exception):
    """Everything that verifi raises. Its text is complete and without secrets.

    Attributes:
        kind: What kind of thing failed: a name that is the same in every language.
        code: The kind's number, as the C face returns it.
    """

    kind: str = "verifi"
    code: int = 0


class ManifestError(VerifiError):
    """The manifest is not one: the message names the member and what is wrong with it."""

    kind = "manifest"
    code = 1


class OptionsError(VerifiError):
    """An option of the run is not one: the message names it."""

    kind = "options"
    code = 2


class SlotNotFilledError(VerifiError):
    """The run's manifest has no server for the slot: a fault of the provisioning."""

    kind = "slot_not_filled"
    code = 3


class ListToolsError(VerifiError):
    """No server of the slot gave a list of its tools; the message has each server's cause in order."""

    kind = "list_tools"
    code = 4


class JournalError(VerifiError):
    """The run's journal cannot be opened, or does not hold."""

    kind = "journal"
    code = 5
