"""Parts as coverage has them on the board, for tests."""

from oracle.services.tools.answer import quotation


def source(path, *lines, start=1, kind="code"):
    """What a reading tool gives as data."""
    end = start + len(lines) - 1
    where = f"{path}:{start}-{end}"
    known = {"kind": kind, "where": where, "path": path, "start": start, "end": end}
    return {**known, "text": "\n".join(lines)}


def part(path, *lines, start=1, state="read", told="", name=None, tool="read_file"):
    sources = [source(path, *lines, start=start)] if lines else []
    arguments = {"path": path, "start": start}
    known = {"name": name or path, "file": path, "lines": None, "tool": tool, "role": "read"}
    known |= {"kind": "code", "arguments": arguments, "state": state, "told": told}
    return {**known, "text": "\n\n".join(map(quotation, sources)), "sources": sources}
