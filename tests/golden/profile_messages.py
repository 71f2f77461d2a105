"""Writes small profiles in protocol buffers: XSpace messages of XLA, packets of Perfetto.

Only what tests need of both. Standard library only.
"""

import struct


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, *parts):
    body = b"".join(part.encode() if isinstance(part, str) else part for part in parts)
    return varint(field << 3 | 2) + varint(len(body)) + body


def real(field, value):
    return varint(field << 3 | 1) + struct.pack("<d", value)


class Plane:
    """A plane of an XSpace. Stats are {name: int, float, text or bytes}; a text in a tuple is written
    as a reference to another stat's name."""

    def __init__(self, name, stats=None):
        self.name, self.lines, self.events, self.stats = name, [], {}, {}
        self.own = [self.stat(*item) for item in (stats or {}).items()]

    def stat(self, name, value):
        body = number(1, self.stats.setdefault(name, len(self.stats) + 1))
        if isinstance(value, tuple):
            return body + number(7, self.stats.setdefault(value[0], len(self.stats) + 1))
        if isinstance(value, bytes):
            return body + message(6, value)
        if isinstance(value, str):
            return body + message(5, value)
        if isinstance(value, float):
            return body + real(2, value)
        return body + number(4, value)

    def event_id(self, name, display="", stats=()):
        key = (name, display)
        if key not in self.events:
            body = message(2, name) + (message(4, display) if display else b"")
            body += b"".join(message(5, self.stat(*item)) for item in dict(stats).items())
            self.events[key] = (len(self.events) + 1, body)
        return self.events[key][0]

    def line(self, ident, name, events, timestamp_ns=0):
        """events: (name, begin in ps, length in ps, stats[, display name[, stats of the name]])."""
        body = number(1, ident) + message(2, name) + number(3, timestamp_ns)
        for event in events:
            ident_of = self.event_id(event[0], *event[4:])
            body += message(4, number(1, ident_of), number(2, event[1]), number(3, event[2]),
                            *(message(4, self.stat(*item)) for item in event[3].items()))
        self.lines.append(body)
        return self

    def written(self):
        body = message(2, self.name) + b"".join(message(3, line) for line in self.lines)
        for ident, event in self.events.values():
            body += message(4, number(1, ident), message(2, number(1, ident), event))
        for name, ident in self.stats.items():
            body += message(5, number(1, ident), message(2, number(1, ident), message(2, name)))
        return message(1, body, *(message(6, stat) for stat in self.own))


def space(*planes):
    return b"".join(plane.written() for plane in planes)


# ---- HLO

TYPES = {"pred": 1, "s8": 2, "s32": 4, "f16": 10, "f32": 11, "bf16": 16}


def shape(text):
    """"bf16[8,16]", rows first."""
    kind, dims = text.rstrip("]").split("[")
    sizes = [int(size) for size in dims.split(",") if size]
    layout = b"".join(number(1, dim) for dim in reversed(range(len(sizes))))
    return number(2, TYPES[kind]) + b"".join(number(3, size) for size in sizes) + message(5, layout)


class Program:
    """One computation, called by nothing, and those that its fusions call."""

    def __init__(self, name):
        self.name, self.next, self.computations = name, 1, []

    def instruction(self, name, opcode, of, operands=(), target="", config="", called=(), fusion="",
                    op_name="", dot=None, groups=()):
        ident, self.next = self.next, self.next + 1
        body = message(1, name) + message(2, opcode) + message(3, shape(of)) + number(35, ident)
        body += b"".join(number(36, operand) for operand in operands)
        body += b"".join(number(38, computation) for computation in called)
        if dot:
            body += message(30, number(1, dot[0]), number(2, dot[1]))
        for field, text in ((28, target), (43, config), (11, fusion)):
            body += message(field, text) if text else b""
        if op_name:
            body += message(7, message(2, op_name), message(3, "/app/model.py"), number(4, 7))
        body += b"".join(message(49, *(number(1, rank) for rank in group)) for group in groups)
        return ident, body

    def computation(self, ident, *instructions):
        self.computations.append(message(3, number(5, ident), *(message(2, body) for _, body in
                                                                instructions)))

    def written(self):
        return message(1, message(1, self.name), *self.computations)


# ---- Perfetto

class Packets:
    """One sequence; names and categories are interned, times absolute on the boot clock."""

    def __init__(self):
        self.out, self.names = [], {}
        self.packet(number(13, 1))

    def packet(self, *parts, sequence=1):
        self.out.append(message(1, number(10, sequence), *parts))
        return self

    def track(self, uuid, name="", parent=0, process=None, thread=None):
        body = number(1, uuid) + (message(2, name) if name else b"")
        body += number(5, parent) if parent else b""
        body += message(3, number(1, process[0]), message(6, process[1])) if process else b""
        body += message(4, number(1, thread[0]), number(2, thread[1])) if thread else b""
        return self.packet(message(60, body))

    def interned(self, table, text):
        key = (table, text)
        if key in self.names:
            return self.names[key], b""
        self.names[key] = len(self.names) + 1
        return self.names[key], message(12, message(table, number(1, self.names[key]),
                                                    message(2, text)))

    def slice(self, track, category, name, begin, end, **annotations):
        category_id, first = self.interned(1, category)
        name_id, second = self.interned(2, name)
        said = b""
        for key, value in annotations.items():
            body = message(10, key)
            body += message(6, value) if isinstance(value, str) else number(4, value)
            said += message(4, body)
        self.packet(number(8, begin), number(58, 6), number(13, 2), first, second,
                    message(11, number(9, 1), number(11, track), number(3, category_id),
                            number(10, name_id), said))
        return self.packet(number(8, end), number(58, 6), number(13, 2),
                           message(11, number(9, 2), number(11, track)))

    def written(self):
        return b"".join(self.out)
