"""What a binary for macOS says of itself. It is read here, as nothing here runs it."""

import struct

BUILD_VERSION = 0x32


def oldest_macos(path):
    """The oldest macOS that a binary is for, such as (11, 0)."""
    with open(path, "rb") as file:
        binary = file.read()
    magic, _, _, _, count = struct.unpack_from("<5I", binary)
    assert magic == 0xFEEDFACF, f"{path} is no binary for macOS"
    at = 32
    for _ in range(count):
        command, size = struct.unpack_from("<2I", binary, at)
        if command == BUILD_VERSION:
            version = struct.unpack_from("<I", binary, at + 12)[0]
            return version >> 16, version >> 8 & 0xFF
        at += size
    raise ValueError(f"{path} does not say which macOS it is for")
