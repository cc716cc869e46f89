# SPDX-License-Identifier: Apache-2.0
"""Convert CEL's conformance suite (textproto) into cases for both evaluators.

usage: cel_suite.py FOLDER CASES EXPECTED

Writes one JSON line per case to CASES (tests/tools/cel_answers.c describes its
fields) and, in the same order, a line `FILE/SECTION/NAME<tab>ANSWER` to
EXPECTED: `ok VALUE`, `error`, or `any` if the suite's value exists only with
protobuf.
"""
import json
import math
import pathlib
import re
import struct
import sys

TOKEN = re.compile(r'''\s+|\#[^\n]*|(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    |(?P<word>[\w.+-]+)|(?P<url>\[[^\]"'{]*/[^\]]*\])|(?P<sign>[{}<>:\[\],;])''',
                   re.X)
ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|u[0-9a-fA-F]{4}|"
                    rb"U[0-9a-fA-F]{8}|.)", re.S)
SIMPLE = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"a": b"\a", b"b": b"\b",
          b"f": b"\f", b"v": b"\v"}


def unescape(match):
    word = match[1]
    if word[:1] in b"uU":
        return chr(int(word[1:], 16)).encode()
    if word[:1] == b"x":
        return bytes([int(word[1:], 16)])
    if word[:1] in b"01234567":
        return bytes([int(word, 8) & 255])
    return SIMPLE.get(word, word)


def tokens(text):
    at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise ValueError(f"at byte {at}: {text[at:at + 20]!r}")
        at = match.end()
        if match.lastgroup:
            yield match.lastgroup, match[match.lastgroup]
    yield "end", ""


class Reader:
    """Reads a message into a dict from each field's name to the list of its values."""

    def __init__(self, text):
        self.tokens = list(tokens(text))
        self.at = 0

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def peek(self):
        return self.tokens[self.at][1]

    def message(self, end=""):
        fields = {}
        while self.peek() != end:
            name = self.next()[1]
            if self.peek() == ":":
                self.next()
            fields.setdefault(name, []).extend(self.values())
            if self.peek() in (",", ";"):
                self.next()
        self.next()
        return fields

    def values(self):
        if self.peek() != "[":
            return [self.value()]
        self.next()
        items = []
        while self.peek() != "]":
            items.append(self.value())
            if self.peek() == ",":
                self.next()
        self.next()
        return items

    def value(self):
        kind, text = self.next()
        if text in ("{", "<"):
            return self.message("}" if text == "{" else ">")
        if kind != "string":
            return text
        out = ESCAPE.sub(unescape, text[1:-1].encode())
        while self.tokens[self.at][0] == "string":
            out += ESCAPE.sub(unescape, self.next()[1][1:-1].encode())
        return out


class Unsupported(Exception):
    pass


def quoted(raw):
    return '"' + "".join(
        chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\x{b:02x}"
        for b in raw) + '"'


def real(text):
    return {"inf": math.inf, "-inf": -math.inf, "infinity": math.inf,
            "-infinity": -math.inf, "nan": math.nan}.get(text.lower()) \
        if text.lower().lstrip("-") in ("inf", "infinity", "nan") \
        else float(text)



def any_text(fields):
    """Return the text of a Timestamp or a Duration."""
    (url, fields), = fields.items()
    seconds = int(fields[0].get("seconds", ["0"])[0])
    nanos = int(fields[0].get("nanos", ["0"])[0])
    if url.endswith("google.protobuf.Timestamp]"):
        return f"t:{seconds}.{nanos:09d}"
    if url.endswith("google.protobuf.Duration]"):
        return f"n:{seconds * 10**9 + nanos}"
    raise Unsupported(url)


def value_text(value):
    """Return the value as the evaluators print it."""
    (kind, (given, *_)), = value.items()
    if kind == "int64_value":
        return str(int(given, 0))
    if kind == "uint64_value":
        return f"{int(given, 0)}u"
    if kind == "double_value":
        number = real(given)
        return "d:nan" if math.isnan(number) else \
            f"d:{struct.unpack('>Q', struct.pack('>d', number))[0]:016x}"
    if kind == "bool_value":
        return given
    if kind == "null_value":
        return "null"
    if kind == "string_value":
        return quoted(given)
    if kind == "bytes_value":
        return "b" + quoted(given)
    if kind == "type_value":
        return f"type({given.decode()})"
    if kind == "list_value":
        return "[" + ", ".join(value_text(v)
                               for v in given.get("values", [])) + "]"
    if kind == "map_value":
        return "{" + ", ".join(sorted(
            f"{value_text(e['key'][0])}: {value_text(e['value'][0])}"
            for e in given.get("entries", []))) + "}"
    if kind == "object_value":
        return any_text(given)
    raise Unsupported(kind)


def value_expression(value):
    """Return an expression with this value."""
    (kind, (given, *_)), = value.items()
    if kind == "double_value" and not math.isfinite(real(given)):
        return f"double('{given}')"
    if kind == "double_value":
        return repr(float(given))
    if kind in ("string_value", "bytes_value"):
        if kind == "bytes_value":
            return "b'" + "".join(f"\\x{b:02x}" for b in given) + "'"
        return json.dumps(given.decode())
    if kind == "list_value":
        return "[" + ", ".join(f"dyn({value_expression(v)})"
                               for v in given.get("values", [])) + "]"
    if kind == "map_value":
        return "{" + ", ".join(
            f"dyn({value_expression(e['key'][0])}): "
            f"dyn({value_expression(e['value'][0])})"
            for e in given.get("entries", [])) + "}"
    if kind == "type_value":
        return given.decode()
    if kind == "object_value":
        raise Unsupported("object_value")
    return value_text(value)


PRIMITIVE = {"INT64": "int", "UINT64": "uint", "BOOL": "bool",
             "DOUBLE": "double", "STRING": "string", "BYTES": "bytes"}


def type_name(given):
    """Return the type if both evaluators know it by this name, else dyn."""
    (kind, (inner, *_)), = given.items()
    if kind == "primitive":
        return PRIMITIVE[inner]
    return "dyn"


def variables(case):
    out = {}
    for name, expr in ((b["key"][0].decode(), b["value"][0])
                       for b in case.get("bindings", [])):
        if "value" not in expr:
            raise Unsupported("bound to an error or unknown")
        out[name] = {"type": "dyn", "expr": value_expression(expr["value"][0])}
    for declared in case.get("type_env", []):
        name = declared["name"][0].decode()
        if "ident" not in declared or name not in out:
            raise Unsupported("declares what has no value")
        out[name]["type"] = type_name(declared["ident"][0]["type"][0])
    return out


def expected(case):
    if "eval_error" in case:
        return "error"
    try:
        if "typed_result" in case:
            result = case["typed_result"][0].get("result")
            return "ok " + value_text(result[0]) if result else "any"
        if "value" in case:
            return "ok " + value_text(case["value"][0])
    except Unsupported:
        return "any"
    return "any" if case.keys() & {"unknown", "any_unknowns", "check_only",
                                   "any_eval_errors"} else "ok true"


def main(folder, cases, answers):
    left_out = {}
    with open(cases, "w") as cases, open(answers, "w") as answers:
        for path in sorted(pathlib.Path(folder).glob("*.textproto")):
            file = Reader(path.read_text()).message()
            for section in file.get("section", []):
                for case in section.get("test", []):
                    name = "/".join((path.stem, section["name"][0].decode(),
                                     case["name"][0].decode()))
                    try:
                        given = {"expr": case["expr"][0].decode(),
                                 "vars": variables(case)}
                    except Unsupported as why:
                        left_out[str(why)] = left_out.get(str(why), 0) + 1
                        continue
                    print(json.dumps(given), file=cases)
                    print(f"{name}\t{expected(case)}", file=answers)
    for why, n in sorted(left_out.items()):
        print(f"left out: {n} cases: {why}")


if __name__ == "__main__":
    main(*sys.argv[1:])
