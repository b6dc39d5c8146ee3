"""Mails the agent when something happens to a booking."""

import smtplib
from email.message import EmailMessage

from harbour.config.settings import load
from harbour.events import types
from harbour.events.types import Event
from harbour.plugins.registry import plugin

SENDER = "berths@skarnvik.example"

SUBJECTS = {
    types.BOOKING_PENCILLED: "Berth {berth} pencilled for {vessel}",
    types.BOOKING_CONFIRMED: "Berth {berth} confirmed for {vessel}",
    types.BOOKING_CANCELLED: "Booking for {vessel} cancelled",
    types.BOOKING_NO_SHOW: "{vessel} did not arrive",
}


def compose(event: Event) -> EmailMessage:
    message = EmailMessage()
    message["From"] = SENDER
    message["To"] = str(event.payload["agent_email"])
    message["Subject"] = SUBJECTS[event.name].format(**event.payload)
    message["X-Harbour-Event"] = event.name
    message.set_content(
        f"Booking {event.payload['booking_id']}\n"
        f"Arrival   {event.payload['arrives']}\n"
        f"Departure {event.payload['departs']}\n"
    )
    return message


@plugin("email-notices", events=SUBJECTS)
def send(event: Event) -> None:
    if not event.payload.get("agent_email"):
        return  # some fishing boats have no agent
    with smtplib.SMTP(load().smtp_host, timeout=10) as server:
        server.send_message(compose(event))
