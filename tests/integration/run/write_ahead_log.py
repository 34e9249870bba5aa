"""Changes a store's write-ahead log as another version of the program would have written it."""

import struct

_BLOCK = 32768
_FULL = 1  # A record that is whole in its block.
_PUT = 1


def _crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def _masked(crc):
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def _record(payload):
    body = bytes([_FULL]) + payload
    return struct.pack("<IH", _masked(_crc32c(body)), len(payload)) + body


def _records(data):
    at = 0
    while at + 7 <= len(data):
        _, length, kind = struct.unpack_from("<IHB", data, at)
        if kind != _FULL:
            raise AssertionError(f"a record of kind {kind}: this log is too large for a test")
        yield data[at + 7 : at + 7 + length]
        at += 7 + length


def change_first_value(store, value):
    """Replaces the value of the very first write: the schema, written into a store that is new."""
    log = max(store.glob("*.log"), key=lambda path: path.stat().st_size)
    first, *others = _records(log.read_bytes())
    head, key_length = first[:12], first[13]  # Sequence and count; then kind, length, key.
    if first[12] != _PUT:
        raise AssertionError("the first write is no put")
    key = first[14 : 14 + key_length]
    changed = head + bytes([_PUT, key_length]) + key + bytes([len(value)]) + value
    data = b"".join(map(_record, [changed, *others]))
    if len(data) > _BLOCK:
        raise AssertionError("this log is too large for a test")
    log.write_bytes(data)
