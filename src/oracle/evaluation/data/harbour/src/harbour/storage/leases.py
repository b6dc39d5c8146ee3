"""Leases: at most one process runs a job.

A lease is a row with an owner, an expiry and a token. The token grows by one whenever the owner
changes. Whatever a job writes, it writes with its token, and an older token is refused.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from harbour.errors import LeaseLost
from harbour.storage.db import Database


@dataclass(frozen=True, kw_only=True)
class Lease:
    job: str
    owner: str
    token: int
    expires: datetime


class LeaseStore:
    def __init__(self, database: Database, ttl_seconds: int):
        self._database = database
        self.ttl = timedelta(seconds=ttl_seconds)

    @property
    def renew_every(self) -> timedelta:
        return self.ttl / 3

    def acquire(self, job: str, owner: str, now: datetime) -> Lease | None:
        """None if somebody else has it. The clock is the caller's, not the database's."""

        def work(db: Any) -> Lease | None:
            row = db.one(
                "insert into job_leases (job, owner, token, expires) values ($1, $2, 1, $3)"
                " on conflict (job) do update set owner = $2, expires = $3,"
                " token = job_leases.token + case when job_leases.owner = $2 then 0 else 1 end"
                " where job_leases.expires < $4 or job_leases.owner = $2"
                " returning job, owner, token, expires",
                job,
                owner,
                now + self.ttl,
                now,
            )
            return None if row is None else Lease(**row)

        return self._database.repeat(work)

    def renew(self, lease: Lease, now: datetime) -> Lease:
        renewed = self.acquire(lease.job, lease.owner, now)
        if renewed is None or renewed.token != lease.token:
            raise LeaseLost(f"job {lease.job} was taken over from {lease.owner}")
        return renewed

    def check(self, db: Any, lease: Lease) -> None:
        """To be called in the transaction that writes."""
        row = db.one("select token from job_leases where job = $1 for share", lease.job)
        if row is None or row["token"] != lease.token:
            raise LeaseLost(f"token {lease.token} of job {lease.job} is no longer valid")

    def release(self, lease: Lease) -> None:
        self._database.repeat(
            lambda db: db.execute(
                "update job_leases set expires = '-infinity' where job = $1 and token = $2",
                lease.job,
                lease.token,
            )
        )
