"""Runs jobs when they are due, each under a lease."""

import logging
import os
import random
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from harbour.errors import LeaseLost
from harbour.storage.leases import Lease, LeaseStore

log = logging.getLogger("harbour.jobs")

JITTER = 0.1
Work = Callable[[Lease, datetime], None]


@dataclass
class Job:
    name: str
    every: timedelta
    work: Work
    next_run: datetime = field(default=datetime.min)


def owner_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


class Scheduler:
    def __init__(
        self, leases: LeaseStore, jobs: list[Job], chance: Callable[[], float] = random.random
    ):
        self._leases = leases
        self._jobs = jobs
        self._chance = chance
        self._owner = owner_name()

    def tick(self, now: datetime) -> list[str]:
        """Runs what is due and returns the names of what ran."""
        ran: list[str] = []
        for job in self._jobs:
            if now.replace(tzinfo=None) < job.next_run.replace(tzinfo=None):
                continue
            lease = self._leases.acquire(job.name, self._owner, now)
            if lease is None:
                continue  # the other server has it; look again at the next tick
            try:
                job.work(lease, now)
                ran.append(job.name)
            except LeaseLost:
                log.warning("lease lost", extra={"fields": {"job": job.name}})
                continue
            except Exception:
                log.exception("job failed", extra={"fields": {"job": job.name}})
            finally:
                spread = job.every * JITTER * (self._chance() * 2 - 1)
                job.next_run = now + job.every + spread
            self._leases.release(lease)
        return ran
