"""Handlers for cranes."""

import json

from harbour.api.app import App, Request, Response
from harbour.domain.crane import pick
from harbour.storage.cranes import CraneStore


class CraneHandlers:
    def __init__(self, store: CraneStore):
        self._store = store

    def mount(self, app: App) -> None:
        app.route("GET", "/v1/cranes", self.show)
        app.route("POST", "/v1/cranes/assign", self.assign)
        app.route("POST", "/v1/cranes/{name}/state", self.set_state)

    def show(self, request: Request) -> Response:
        fleet = [
            {"name": c.name, "quay": c.quay, "lift_t": c.lift_t, "state": c.state}
            for c in self._store.fleet()
        ]
        return Response(status=200, body={"cranes": fleet})

    def assign(self, request: Request) -> Response:
        assert request.caller is not None
        request.caller.require("cranes")
        body = json.loads(request.body)
        crane = pick(self._store.fleet(), body["berth"], float(body["heaviest_lift_t"]))
        self._store.assign(crane, int(body["booking_id"]))
        return Response(status=200, body={"crane": crane.name})

    def set_state(self, request: Request) -> Response:
        """`stopped` to `free` by hand needs the harbour master: it overrides the wind."""
        assert request.caller is not None
        request.caller.require("cranes")
        state = json.loads(request.body)["state"]
        current = {c.name: c.state for c in self._store.fleet()}[request.params["name"]]
        if current == "stopped" and state == "free":
            request.caller.require("override")
        if state not in ("free", "broken"):
            raise ValueError("by hand a crane can be set to free or broken")
        self._store.set_state(request.params["name"], state)
        return Response(status=200, body={"crane": request.params["name"], "state": state})
