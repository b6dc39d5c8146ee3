"""Log lines as key=value, because the collector in the harbour office reads nothing else."""

import logging
import sys

SECRET_WORDS = ("key", "token", "password", "authorization")


class KeyValueFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        pairs = {
            "at": self.formatTime(record, "%Y-%m-%dT%H:%M:%S"),
            "level": record.levelname.lower(),
            "from": record.name,
            "msg": record.getMessage(),
        }
        pairs.update(getattr(record, "fields", {}))
        return " ".join(f"{name}={self._quoted(name, value)}" for name, value in pairs.items())

    @staticmethod
    def _quoted(name: str, value: object) -> str:
        if any(word in name.lower() for word in SECRET_WORDS):
            return "***"
        text = str(value)
        return f'"{text}"' if " " in text else text


def setup(level: str = "INFO") -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(KeyValueFormatter())
    root = logging.getLogger("harbour")
    root.handlers[:] = [handler]
    root.setLevel(level)
    root.propagate = False
