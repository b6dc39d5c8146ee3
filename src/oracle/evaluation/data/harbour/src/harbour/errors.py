"""Every error that a user can see has a code. Codes are never used twice.

HarbourError
├── BadSetting          HB-001
├── UnknownFlag         HB-002
├── BerthConflict       HB-101
├── DraftTooDeep        HB-102
├── WrongState          HB-103
├── VesselTooLong       HB-104
├── CraneUnavailable    HB-201
├── LeaseLost           HB-301
├── TideDataStale       HB-401
├── Upstream            HB-402
├── UnknownPlugin       HB-501
└── NotAllowed          HB-601
"""


class HarbourError(Exception):
    code = "HB-000"
    status = 500

    def __str__(self) -> str:
        return f"{self.code}: {super().__str__()}"


class BadSetting(HarbourError):
    code = "HB-001"


class UnknownFlag(HarbourError):
    code = "HB-002"


class BerthConflict(HarbourError):
    code = "HB-101"
    status = 409


class DraftTooDeep(HarbourError):
    code = "HB-102"
    status = 422


class WrongState(HarbourError):
    code = "HB-103"
    status = 409


class VesselTooLong(HarbourError):
    code = "HB-104"
    status = 422


class CraneUnavailable(HarbourError):
    code = "HB-201"
    status = 409


class LeaseLost(HarbourError):
    """Another process took over the job. Stop at once and write nothing more."""

    code = "HB-301"


class TideDataStale(HarbourError):
    code = "HB-401"
    status = 503


class Upstream(HarbourError):
    code = "HB-402"
    status = 502

    def __init__(self, message: str, *, transient: bool = False, retry_after: float | None = None):
        super().__init__(message)
        self.transient = transient
        self.retry_after = retry_after


class UnknownPlugin(HarbourError):
    code = "HB-501"


class NotAllowed(HarbourError):
    code = "HB-601"
    status = 403
