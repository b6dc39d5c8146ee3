"""Importing this package registers the plugins that ship with harbour."""

from harbour.plugins import (  # noqa: F401
    billing_export,
    customs_manifest,
    email_notices,
    pilot_roster,
    radio_notices,
    waste_declaration,
)
