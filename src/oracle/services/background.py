"""Work in threads that may be abandoned, and an event loop that does not wait for it at its end.

A thread cannot be stopped. One that hangs in a file system, a name look-up or a lock would keep
`asyncio.run` and the exit of the interpreter waiting for as long as it hangs. The threads here are
daemons, and nobody waits for them. Only work that `must_end`, such as a write, is waited for, and
that within a bound.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import weakref
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from itertools import count
from queue import Empty, SimpleQueue
from threading import Lock, Semaphore, Thread
from typing import Any, Final, Generic, NamedTuple, ParamSpec, TypeAlias, TypeVar, cast

from oracle.logs import logger_of

log = logger_of(__name__)

MOST_THREADS: Final = 64
SECONDS_IDLE: Final = 2.0
"""After so long without work a thread ends. A burst leaves none behind."""
SECONDS_TO_LEAVE: Final = 2.0
"""How long the end of an event loop waits for tasks that do not obey their cancellation."""
SECONDS_TO_CANCEL_AGAIN: Final = 0.1
SECONDS_TO_WRITE: Final = 5.0
"""How long the exit waits for work that must end."""

P = ParamSpec("P")
Result = TypeVar("Result")
NewLoop: TypeAlias = Callable[[], asyncio.AbstractEventLoop]
_Job: TypeAlias = tuple[Future[Any], Callable[[], Any]]


class DaemonThreads(ThreadPoolExecutor):
    """At most `most` threads. Neither `shutdown` nor the exit of the interpreter waits for them.

    It is a `ThreadPoolExecutor` only because an event loop accepts nothing else as its default.
    """

    def __init__(self, most: int = MOST_THREADS, *, name: str = "background") -> None:
        super().__init__(max_workers=1)
        self._most = most
        self._name = name
        self._start_empty()
        _all.add(self)

    def _start_empty(self) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._counts = _Counts(Semaphore(0), Semaphore(self._most), Semaphore(0), Lock())
        self._names = count(1)
        self._going_on: set[Future[Any]] = set()
        self._must_end: set[Future[Any]] = set()
        # The threads know the queue, not this object, so that it can be collected.
        self._end = weakref.finalize(self, self._jobs.put, None)
        self._end.atexit = False

    def submit(
        self, fn: Callable[P, Result], /, *args: P.args, **kwargs: P.kwargs
    ) -> Future[Result]:
        future: Future[Result] = Future()
        self._going_on.add(future)
        future.add_done_callback(self._going_on.discard)
        with self._counts.lock:
            if not self._end.alive:
                raise RuntimeError("these threads are shut down")
            self._jobs.put((future, partial(fn, *args, **kwargs)))
            if self._counts.free.acquire(blocking=False):
                return future
            if self._counts.room.acquire(blocking=False):
                name = f"{self._name}-{next(self._names)}"
                work = (self._jobs, self._counts)
                Thread(target=_work, args=work, name=name, daemon=True).start()
            else:
                self._counts.owed.release()
        return future

    def submit_to_end(self, function: Callable[[], Result]) -> Future[Result]:
        """Work that must not be cut off: the exit waits for it, within a bound."""
        future = self.submit(function)
        self._must_end.add(future)
        future.add_done_callback(self._must_end.discard)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """The threads end when what is queued is done. It does not wait for that."""
        with self._counts.lock:
            self._end()

    def going_on(self, *, must_end: bool) -> list[Future[Any]]:
        return list(self._must_end if must_end else self._going_on)

    def forget(self) -> None:
        """After a fork, in the child: the threads, and what they were doing, are the parent's."""
        self._end.detach()
        self._start_empty()


class _Counts(NamedTuple):
    """Semaphores and not numbers: the threads count without the lock."""

    free: Semaphore
    """Threads that wait for a job."""
    room: Semaphore
    """Threads that may still be started."""
    owed: Semaphore
    """Jobs that were submitted while there was neither: a thread does them before it is free."""
    lock: Lock
    """For submitting a job, and for ending a thread: a job must not find the last one half gone."""


def _work(jobs: SimpleQueue[_Job | None], counts: _Counts) -> None:
    while True:
        try:
            job = jobs.get(timeout=SECONDS_IDLE)
        except Empty:
            # One that is counted as free may end. If none is, a job is on its way to this one.
            with counts.lock:
                if counts.free.acquire(blocking=False):
                    counts.room.release()
                    return
            continue
        if job is None:
            # For the other threads of the same queue.
            jobs.put(None)
            return
        _do(*job)
        # Without this, the last result would be kept alive until the next job.
        del job
        if not counts.owed.acquire(blocking=False):
            counts.free.release()


def _do(future: Future[Any], function: Callable[[], Any]) -> None:
    if future.set_running_or_notify_cancel():
        try:
            future.set_result(function())
        # A panic of a Rust library is not an `Exception`. It belongs to the caller as well.
        except BaseException as problem:
            future.set_exception(problem)


_all: weakref.WeakSet[DaemonThreads] = weakref.WeakSet()
_locks: weakref.WeakSet[Lock] = weakref.WeakSet()
_threads: Final = DaemonThreads()


async def in_thread(function: Callable[P, Result], /, *args: P.args, **kwargs: P.kwargs) -> Result:
    """Like `asyncio.to_thread`, for work that may be abandoned: most often work on the disk."""
    work = partial(copy_context().run, function, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_threads, work)


async def in_thread_to_end(function: Callable[[], Result]) -> Result:
    """For work that must not be cut off. A caller that is cancelled goes on; the work does too."""
    work = partial(copy_context().run, function)
    return await asyncio.wrap_future(_threads.submit_to_end(work))


class Together(Generic[Result]):
    """One call for all who ask for the same before it begins, in one event loop.

    Everybody gets the result of a call that began after they asked, so nothing is stale. While one
    is under way, those who ask wait for the next one.
    """

    def __init__(self, work: Callable[[], Coroutine[Any, Any, Result]]) -> None:
        self._work = work
        self._now: asyncio.Task[Result] | None = None
        self._next: asyncio.Task[Result] | None = None

    async def __call__(self) -> Result:
        if self._next is None:
            self._next = asyncio.create_task(self._begin())
        # Shielded: one who is cancelled must not cancel it for the others.
        return await asyncio.shield(self._next)

    async def _begin(self) -> Result:
        if self._now is not None:
            await asyncio.wait({self._now})
        self._now, self._next = self._next, None
        return await self._work()


def wait_for_writes(seconds: float = SECONDS_TO_WRITE) -> None:
    """Wait until all work that must end has ended. To be called before the process ends."""
    wait([each for threads in list(_all) for each in threads.going_on(must_end=True)], seconds)


def _at_exit() -> None:
    wait_for_writes()
    # A thread that returns from C code while the interpreter is torn down is ended inside of that
    # code, at which some libraries crash. Work that nobody needs ends soon, unless it hangs.
    wait([each for threads in list(_all) for each in threads.going_on(must_end=False)], 1.0)


def fork_safe_lock() -> Lock:
    """A lock that is free in the child of a fork, though a thread of the parent may hold it."""
    lock = Lock()
    _locks.add(lock)
    return lock


def _forget_all() -> None:
    for threads in list(_all):
        threads.forget()
    for lock in list(_locks):
        # As the standard library does with its own locks.
        cast("Any", lock)._at_fork_reinit()


atexit.register(_at_exit)
os.register_at_fork(after_in_child=_forget_all)


# -- the event loop --------------------------------------------------------------------------------


def running_loop() -> asyncio.AbstractEventLoop | None:
    # A function of its own: work that is done inside of `except` would show "no running event loop"
    # as the context of every exception.
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


_abandoned: Final[set[asyncio.Task[Any]]] = set()
"""An event loop keeps only weak references to its tasks."""


async def within(seconds: float | Callable[[], float], work: Coroutine[Any, Any, Result]) -> Result:
    """The result of the work, or `TimeoutError` after `seconds`. A function says how many are left,
    and is asked again when these are over.

    `asyncio.timeout` waits until the work has obeyed its cancellation. This does not: work that is
    late is cancelled and abandoned.
    """
    task = asyncio.get_running_loop().create_task(work)
    try:
        left = seconds() if callable(seconds) else seconds
        while not (await asyncio.wait({task}, timeout=max(0.0, left)))[0]:
            if not callable(seconds) or (left := seconds()) <= 0:
                task.cancel()
                raise TimeoutError("it took longer than it may")
        return task.result()
    except asyncio.CancelledError:
        # The caller is cancelled. The work gets a moment to close what it has open.
        task.cancel()
        await asyncio.wait({task}, timeout=SECONDS_TO_LEAVE)
        raise
    finally:
        if not task.done():
            _abandoned.add(task)
            task.add_done_callback(_forget_task)


async def cancelled(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks, and wait until they have ended.

    More than once if need be: up to Python 3.11, `asyncio.wait_for` loses a cancellation that comes
    at the same moment as what it waits for, and drivers of databases call it.
    """
    left = set(tasks)
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=SECONDS_TO_CANCEL_AGAIN)


def _forget_task(task: asyncio.Task[Any]) -> None:
    _abandoned.discard(task)
    if not task.cancelled() and (problem := task.exception()) is not None:
        log.info("abandoned work failed: %s", problem)


def is_being_cancelled() -> bool:
    """Whether somebody wants the task to end that is running. If not, a `CancelledError` that
    arrives was raised by foreign code, and is a failure like any other.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def run_async(work: Coroutine[Any, Any, Result], new_loop: NewLoop | None = None) -> Result:
    """Like `asyncio.run`, but it returns even if a task or a thread does not end."""
    with async_runner(new_loop) as runner:
        return runner.run(work)


@contextmanager
def async_runner(new_loop: NewLoop | None = None) -> Generator[asyncio.Runner]:
    """Like `asyncio.Runner`, but the end of the block does not wait for what does not end."""
    runner = asyncio.Runner(loop_factory=lambda: _loop(new_loop or asyncio.new_event_loop))
    loop = runner.get_loop()
    try:
        yield runner
    finally:
        if loop.run_until_complete(_cancel_all()):
            runner.close()
        else:
            # The runner would wait for the tasks that are left, for ever.
            loop.close()


def _loop(new_loop: NewLoop) -> asyncio.AbstractEventLoop:
    loop = new_loop()
    # For what libraries do in threads, such as looking up the name of a model's host.
    loop.set_default_executor(DaemonThreads(name="library"))
    return loop


async def _cancel_all() -> bool:
    """Cancel the tasks that are left. False if one does not end."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left - _abandoned:
        task.cancel()
    # Those that were abandoned have had their time.
    late = left & _abandoned
    if new := left - late:
        late |= (await asyncio.wait(new, timeout=SECONDS_TO_LEAVE))[1]
    for task in late:
        log.info("%s did not end when it was cancelled; it is abandoned", task.get_name())
        # It will never end, so nothing is wrong with its being collected while it waits.
        cast("Any", task)._log_destroy_pending = False
    return not late
