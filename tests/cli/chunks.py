"""Chunks for tests of the terminal."""

from oracle.models.stream_chunk import OracleStreamChunk

QUESTION = {
    "query_type": "code",
    "confidence": 0.987,
    "breadth": 0.1,
    "topic_shift": False,
    "sources": ["code"],
    "tools": ["search_code", "read_file"],
}


def chunk(type_, **data):
    return OracleStreamChunk.from_dict({"type": type_, **data})
