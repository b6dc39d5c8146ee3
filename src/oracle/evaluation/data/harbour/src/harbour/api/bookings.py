"""Handlers for bookings."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from harbour.api.app import App, Request, Response, problem
from harbour.config.settings import Settings
from harbour.domain import planner
from harbour.domain.booking import Booking, State
from harbour.domain.vessel import Vessel
from harbour.events import types
from harbour.events.bus import Bus
from harbour.events.types import Event
from harbour.storage.bookings import BookingStore
from harbour.storage.cache import TideCache

MAX_STAY_DAYS = 21


class BookingHandlers:
    def __init__(
        self,
        store: BookingStore,
        vessels: Any,
        tides: TideCache,
        bus: Bus,
        settings: Settings,
        clock: Callable[[], datetime],
    ):
        self._store = store
        self._vessels = vessels
        self._tides = tides
        self._bus = bus
        self._settings = settings
        self._clock = clock

    def mount(self, app: App) -> None:
        app.route("POST", "/v1/bookings", self.request)
        app.route("GET", "/v1/bookings/{id}", self.read)
        app.route("POST", "/v1/bookings/{id}/confirm", self.confirm)
        app.route("POST", "/v1/bookings/{id}/cancel", self.cancel)
        app.route("POST", "/v1/bookings/{id}/alongside", self.alongside)
        app.route("POST", "/v1/bookings/{id}/departed", self.departed)

    def request(self, request: Request) -> Response:
        """Asks for a berth. If one is free it is pencilled in the same call."""
        assert request.caller is not None
        request.caller.require("request")
        body = json.loads(request.body)
        vessel: Vessel = self._vessels.get(body["call_sign"])
        arrives = datetime.fromisoformat(body["arrives"])
        departs = datetime.fromisoformat(body["departs"])
        if (departs - arrives).days > MAX_STAY_DAYS:
            raise ValueError(f"a stay may last {MAX_STAY_DAYS} days")
        booking = self._store.create(vessel.call_sign, arrives, departs)
        self._publish(types.BOOKING_REQUESTED, booking, vessel)
        now = self._clock()
        proposal = planner.propose(
            booking,
            vessel,
            self._store.around(arrives, departs),
            self._tides.latest(self._settings.tidewatch_station),
            self._settings,
            now,
        )
        pencilled = replace(booking, berth=proposal.berth.name).to(State.PENCILLED, now=now)
        self._store.save(pencilled)
        self._publish(types.BOOKING_PENCILLED, pencilled, vessel)
        return Response(status=201, body=self._shown(pencilled, proposal.rejected))

    def read(self, request: Request) -> Response:
        booking = self._store.get(int(request.params["id"]))
        if booking is None:
            return problem("no_booking", f"there is no booking {request.params['id']}", 404)
        return Response(status=200, body=self._shown(booking))

    def confirm(self, request: Request) -> Response:
        return self._move(request, "confirm", State.CONFIRMED, types.BOOKING_CONFIRMED)

    def cancel(self, request: Request) -> Response:
        return self._move(request, "cancel", State.CANCELLED, types.BOOKING_CANCELLED)

    def alongside(self, request: Request) -> Response:
        return self._move(request, "confirm", State.ALONGSIDE, types.VESSEL_ALONGSIDE)

    def departed(self, request: Request) -> Response:
        return self._move(request, "confirm", State.DEPARTED, types.VESSEL_DEPARTED)

    def _move(self, request: Request, right: str, state: State, event: str) -> Response:
        assert request.caller is not None
        request.caller.require(right)
        booking = self._store.get(int(request.params["id"]))
        if booking is None:
            return problem("no_booking", f"there is no booking {request.params['id']}", 404)
        moved = booking.to(state, now=self._clock())
        self._store.save(moved)
        self._publish(event, moved, self._vessels.get(moved.call_sign))
        return Response(status=200, body=self._shown(moved))

    def _publish(self, name: str, booking: Booking, vessel: Vessel) -> None:
        payload: dict[str, object] = {
            "booking_id": booking.id,
            "call_sign": booking.call_sign,
            "vessel": vessel.name,
            "kind": vessel.kind,
            "agent_email": self._vessels.agent_email(vessel.call_sign),
            "vessel_data": vars(vessel),
            "berth": booking.berth,
            "arrives": booking.arrives.isoformat(),
            "departs": booking.departs.isoformat(),
            "stay_seconds": (booking.departs - booking.arrives).total_seconds(),
        }
        self._bus.publish(Event(name=name, at=self._clock(), payload=payload))

    @staticmethod
    def _shown(booking: Booking, rejected: tuple[tuple[str, str], ...] = ()) -> dict[str, Any]:
        return {
            "id": booking.id,
            "state": booking.state.value,
            "berth": booking.berth,
            "arrives": booking.arrives.isoformat(),
            "departs": booking.departs.isoformat(),
            "not_possible": [{"berth": name, "why": why} for name, why in rejected],
        }
