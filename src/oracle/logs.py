"""Loggers of this package. What they log has no secrets, whatever handlers a program has set up.

A message often quotes the text of a foreign exception, and that may quote a key. One filter removes
it from every record, before any handler sees it. A filter on the logger `oracle` would not do:
Python does not ask the filters of a logger about the records of those below it.
"""

from __future__ import annotations

import logging
import traceback


def logger_of(name: str) -> logging.Logger:
    logger = logging.getLogger(name)
    logger.addFilter(without_secrets)
    return logger


def without_secrets(record: logging.LogRecord) -> bool:
    """Always true: the record is changed and kept."""
    # Hardly any run logs anything, so this is imported only then.
    from oracle.services.project.redaction import redact, redacted_traceback

    try:
        text = record.getMessage()
    except Exception as problem:
        text = f"{record.msg!r} cannot be logged: {type(problem).__name__}"
        record.msg, record.args = text, None
    if (plain := redact(text)) != text:
        record.msg, record.args = plain, None
    problem = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
    if problem is not None:
        told = redacted_traceback(problem)
        if told != "".join(traceback.format_exception(problem)):
            # A formatter adds this text, and would otherwise make it from the exception.
            record.exc_text, record.exc_info = told, None
    return True
