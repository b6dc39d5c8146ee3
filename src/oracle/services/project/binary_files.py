"""Which files are no text, by their name alone."""

from __future__ import annotations

from typing import Final

_SUFFIXES: Final = """
png jpg jpeg gif bmp ico icns webp tif tiff psd pdf zip gz tgz bz2 xz zst z 7z rar tar jar war whl
egg so dylib dll exe bin o a lib obj class pyc pyo pyd wasm ttf otf woff woff2 eot mp3 mp4 wav ogg
flac avi mov mkv webm sqlite sqlite3 db mo npy npz parquet pkl pickle onnx gguf pt safetensors dat
iso dmg swf
"""
_BINARY: Final = frozenset(_SUFFIXES.split())


def binary_suffix(path: str) -> str | None:
    """The suffix that tells; a name that is nothing but a suffix does not."""
    stem, _, suffix = path.rpartition("/")[2].rpartition(".")
    return f".{suffix}" if stem and suffix.lower() in _BINARY else None
