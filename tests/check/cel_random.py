# SPDX-License-Identifier: Apache-2.0
"""Write random CEL expressions for both evaluators, determined by the seed.

usage: cel_random.py COUNT SEED

Nine in ten are well typed: a function for each type chooses one of the ways to
build a value of it. The others contain one operand of a wrong type. Some
have a cost budget that they exceed only by a little, or not at all.
"""
import json
import random
import re
import sys

OBJECT = {
    "apiVersion": "batch/v1", "kind": "Job",
    "metadata": {"name": "llm-train", "namespace": "ml",
                 "labels": {"app": "x"}},
    "spec": {"n": 3, "f": 2.5, "neg": -7, "on": True, "off": False,
             "nothing": None, "empty": [], "none": {},
             "list": [1, 2, 3, 2], "mixed": [1, "a", 2.5, None, True],
             "words": ["b", "a", "gpu", "a"],
             "containers": [
                 {"name": "a", "image": "ghcr.io/x/train:1.0",
                  "limits": {"cpu": "500m", "nvidia.com/gpu": "8"}},
                 {"name": "b", "image": "busybox",
                  "env": [{"name": "X", "value": "1"}]}]},
}
VARIABLES = {
    "object": {"type": "dyn", "json": OBJECT},
    "i": {"type": "int", "expr": "7"},
    "u": {"type": "uint", "expr": "3u"},
    "d": {"type": "double", "expr": "-2.5"},
    "s": {"type": "string", "expr": "'Größe a,b,a'"},
    "b": {"type": "bytes", "expr": "b'\\xff\\x00a'"},
    "l": {"type": "list(int)", "expr": "[3, 1, 2]"},
    "w": {"type": "list(string)", "expr": "['x', 'gpu', 'x']"},
    "m": {"type": "map(string,dyn)", "expr": "{'a': dyn(1)}"},
    "n": {"type": "map(string,int)", "expr": "{'a': 1}"},
    "t": {"type": "timestamp", "expr": "timestamp('2024-02-29T23:59:58.5Z')"},
    "p": {"type": "duration", "expr": "duration('1h2m3.5s')"},
    "o": {"type": "optional(dyn)", "expr": "optional.of(dyn(5))"},
}
INTS = ["0", "1", "2", "-1", "3", "7", "10", "250", "9223372036854775807",
        "-9223372036854775808", "4611686018427387904", "0x1f"]
UINTS = ["0u", "1u", "3u", "18446744073709551615u", "0xffu"]
DOUBLES = ["0.0", "1.0", "-0.5", "2.5", "1e3", "1e308", "1e-310", "3.0"]
STRINGS = ["''", "'a'", "'gpu'", "'a,b,,c'", "'Größe'", "'\\u00e9'", '"x y"',
           "r'\\d+'", "'  trim '", "'1.5'", "'42'", "'true'", "'ghcr.io/x:1'",
           "'😀b'", "'UPPER lower'", "'500m'", "'1Gi'", "'10.0.0.1'",
           "'1.2.3'", "'https://h.example:8080/p?q=1&q=2'", "'10.0.0.0/8'"]
BYTES = ["b''", "b'abc'", "b'\\xff'", "b'\\303\\237'"]
TIMES = ["timestamp('2023-01-31T00:00:00Z')", "timestamp(0)",
         "timestamp('9999-12-31T23:59:59Z')",
         "timestamp('2024-03-10T02:30:00-07:00')"]
LENGTHS = ["duration('0s')", "duration('1.5h')", "duration('-3m2s')",
           "duration('1ms')", "duration('24h')"]
PATTERNS = ["'a'", "'^[a-z]+$'", "'\\\\d{1,3}'", "'(a|b)*c'", "'[^,]+'",
            "'.'", "'\\\\bgpu\\\\b'", "'(?i)GPU'", "'x*'"]
FORMATS = ["'%s'", "'%d'", "'%f'", "'%.2f'", "'%e'", "'%x'", "'%b'", "'%o'",
           "'%X'", "'<%s>%%'"]
ZONES = ["", "'UTC'", "'+05:30'", "'-02:00'"]
GETTERS = ["getFullYear", "getMonth", "getDate", "getDayOfMonth",
           "getDayOfWeek", "getDayOfYear", "getHours", "getMinutes",
           "getSeconds", "getMilliseconds"]


KINDS = ["bool"] * 6 + ["int", "double", "string", "list", "words", "map",
                        "dyn", "optional", "time", "length", "uint", "bytes"]


class Maker:
    def __init__(self, rng):
        self.rng = rng
        self.local = []  # (name, type) of comprehension variables

    def expression(self):
        return self.of(self.rng.choice(KINDS), self.rng.randrange(2, 6))

    def pick(self, *ways):
        return self.rng.choice(ways)

    def of(self, kind, depth):
        if self.rng.random() < 0.015:
            kind = self.pick("int", "string", "bool", "list", "double", "map")
        names = [name for name, is_ in self.local if is_ in (kind, "dyn")]
        if names and self.rng.random() < 0.4:
            return self.rng.choice(names)
        return getattr(self, kind)(depth - 1)

    def fold(self, over, depth, names=("x",), kinds=("dyn",), body="bool"):
        """Return the texts of a list and of the macro's body, as in
        `LIST.macro(x, BODY)`."""
        listed = self.of(over, depth)
        self.local += list(zip(names, kinds))
        inner = self.of(body, depth)
        del self.local[-len(names):]
        return listed, inner

    def bool(self, n):
        if n <= 0:
            return self.pick("true", "false", "object.spec.on", "i > 3",
                             "has(object.spec.n)", "has(object.spec.zzz)",
                             "'a' in m", "object.spec.off")
        way = self.rng.randrange(26)
        of = lambda kind: self.of(kind, n)
        if way == 24:
            kind = self.pick("list", "words", "map", "string", "int", "dyn")
            return f"{of(kind)}.includes({of(self.pick('int', 'string'))})"
        if way == 25:
            return f"{of('words')}.exists(s, .s == {of('string')})"
        if way < 4:
            return f"({of('bool')} {self.pick('&&', '||')} {of('bool')})"
        if way == 4:
            return f"!{of('bool')}"
        if way < 9:
            kind = self.pick("int", "double", "string", "number", "time",
                             "length", "bytes", "bool")
            sign = self.pick("==", "!=", "<", "<=", ">", ">=")
            return f"({of(kind)} {sign} {of(kind)})"
        if way == 9:
            kind = self.pick("list", "map", "dyn", "optional", "words")
            return f"({of(kind)} {self.pick('==', '!=')} {of(kind)})"
        if way == 10:
            return f"({of('int')} in {of('list')})"
        if way == 11:
            return f"({of('string')} in {of(self.pick('map', 'words'))})"
        if way < 15:
            name = self.pick("startsWith", "endsWith", "contains")
            return f"{of('string')}.{name}({of('string')})"
        if way == 15:
            return f"{of('string')}.matches({self.rng.choice(PATTERNS)})"
        if way < 19:
            macro = self.pick("all", "exists", "exists_one")
            listed, inner = self.fold(self.pick("list", "words", "dynlist"), n)
            return f"{listed}.{macro}(x, {inner})"
        if way == 19:
            macro = self.pick("all", "exists", "existsOne")
            over = self.pick("list", "single")
            listed, inner = self.fold(
                over, n, ("k", "v"), ("int" if over == "list" else "string",
                                      "dyn"))
            return f"{listed}.{macro}(k, v, {inner})"
        if way == 20:
            name = self.pick("contains", "intersects", "equivalent")
            return f"sets.{name}({of('list')}, {of('list')})"
        if way == 21:
            return f"{of('optional')}.hasValue()"
        if way == 22:
            name, args = self.pick(("isQuantity", "'1Gi'"), ("isURL", "s"),
                                   ("isIP", of("string")),
                                   ("isCIDR", of("string")),
                                   ("isSemver", of("string")),
                                   ("isQuantity", of("string")))
            return f"{name}({args})"
        return f"has(object.{self.pick('spec', 'metadata')}.{self.field()})"

    def field(self):
        return self.pick("n", "name", "labels", "containers", "zzz", "list",
                         "nothing", "empty", "words", "none", "mixed")

    def number(self, n):
        kind = self.pick("int", "uint", "double")
        return f"dyn({self.of(kind, n)})"

    def int(self, n):
        of = lambda kind: self.of(kind, n)
        if n <= 0:
            return self.pick("i", "object.spec.n", "object.spec.neg",
                             "n.a", self.rng.choice(INTS))
        way = self.rng.randrange(14)
        if way < 4:
            return f"({of('int')} {self.pick(*'+-*/%')} {of('int')})"
        if way == 4:
            return f"-({of('int')})"
        if way < 7:
            return f"size({of(self.pick('list', 'string', 'map', 'bytes'))})"
        if way == 7:
            return f"{of('list')}[{self.pick('0', '1', '-1', of('int'))}]"
        if way == 8:
            kind = self.pick("uint", "double", "string", "time", "int")
            return f"int({of(kind)})"
        if way == 9:
            return f"({of('bool')} ? {of('int')} : {of('int')})"
        if way == 10:
            zone = self.rng.choice(ZONES)
            return f"{of('time')}.{self.rng.choice(GETTERS)}({zone})"
        if way == 11:
            return f"{of('string')}.{self.pick('indexOf', 'lastIndexOf')}" \
                   f"({of('string')})"
        if way == 12:
            return f"{of('list')}.{self.pick('sum', 'min', 'max')}()"
        return f"{of('optional')}.orValue({of('int')})"

    def uint(self, n):
        if n <= 0:
            return self.pick("u", self.rng.choice(UINTS))
        if self.rng.random() < 0.3:
            return f"uint({self.of(self.pick('int', 'double', 'string'), n)})"
        return f"({self.of('uint', n)} {self.pick(*'+-*/%')} " \
               f"{self.of('uint', n)})"

    def double(self, n):
        if n <= 0:
            return self.pick("d", "object.spec.f", self.rng.choice(DOUBLES))
        if self.rng.random() < 0.3:
            return f"double({self.of(self.pick('int', 'uint', 'string'), n)})"
        return f"({self.of('double', n)} {self.pick(*'+-*/')} " \
               f"{self.of('double', n)})"

    def string(self, n):
        of = lambda kind: self.of(kind, n)
        if n <= 0:
            return self.pick("s", "object.metadata.name",
                             self.rng.choice(STRINGS),
                             self.rng.choice(STRINGS))
        way = self.rng.randrange(14)
        if way < 3:
            return f"({of('string')} + {of('string')})"
        if way == 3:
            kind = self.pick("int", "uint", "double", "bool", "length",
                             "time", "string", "bytes")
            return f"string({of(kind)})"
        if way == 4:
            return f"{of('string')}.charAt({of('int')})"
        if way == 5:
            return f"{of('string')}.{self.pick('lowerAscii', 'upperAscii', 'trim')}()"
        if way == 6:
            more = self.pick("", f", {of('int')}")
            return f"{of('string')}.replace({of('string')}, " \
                   f"{of('string')}{more})"
        if way == 7:
            more = self.pick("", f", {of('int')}")
            return f"{of('string')}.substring({of('int')}{more})"
        if way == 8:
            return f"{of('words')}.join({self.pick('', of('string'))})"
        if way == 9:
            kind = self.pick("int", "double", "string", "list", "map", "dyn")
            return f"{self.rng.choice(FORMATS)}.format([{of(kind)}])"
        if way == 10:
            return f"{of('string')}.find({self.rng.choice(PATTERNS)})"
        if way == 11:
            return f"({of('bool')} ? {of('string')} : {of('string')})"
        if way == 12:
            return f"{of('words')}[{self.pick('0', '1', of('int'))}]"
        return f"url({of('string')}).{self.pick('getHost', 'getScheme', 'getPort', 'getHostname', 'getEscapedPath')}()"

    def bytes(self, n):
        if n <= 0:
            return self.pick("b", self.rng.choice(BYTES))
        if self.rng.random() < 0.5:
            return f"bytes({self.of('string', n)})"
        return f"({self.of('bytes', n)} + {self.of('bytes', n)})"

    def time(self, n):
        if n <= 0:
            return self.pick("t", self.rng.choice(TIMES))
        return f"({self.of('time', n)} {self.pick('+', '-')} " \
               f"{self.of('length', n)})"

    def length(self, n):
        if n <= 0:
            return self.pick("p", self.rng.choice(LENGTHS))
        if self.rng.random() < 0.3:
            return f"({self.of('time', n)} - {self.of('time', n)})"
        return f"({self.of('length', n)} {self.pick('+', '-')} " \
               f"{self.of('length', n)})"

    def list(self, n):
        of = lambda kind: self.of(kind, n)
        if n <= 0:
            return self.pick("l", "object.spec.list", "[1, 2]", "[]",
                             "object.spec.empty")
        way = self.rng.randrange(11)
        if way < 2:
            return "[" + ", ".join(of("int") for _ in
                                   range(self.rng.randrange(4))) + "]"
        if way == 2:
            return f"({of('list')} + {of('list')})"
        if way == 3:
            listed, inner = self.fold("list", n, kinds=("int",))
            return f"{listed}.filter(x, {inner})"
        if way == 4:
            listed, inner = self.fold("list", n, kinds=("int",), body="int")
            return f"{listed}.map(x, {inner})"
        if way == 5:
            listed, inner = self.fold("list", n, kinds=("int",), body="int")
            return f"{listed}.map(x, x > 1, {inner})"
        if way == 6:
            listed, inner = self.fold("list", n, ("k", "v"), ("int", "int"),
                                      "int")
            return f"{listed}.transformList(k, v, {inner})"
        if way == 7:
            name = self.pick("reverse()", "distinct()", "sort()", "flatten()",
                             f"slice({of('int')}, {of('int')})")
            return f"{of('list')}.{name}"
        if way == 8:
            # cel-go does not limit the length of this list.
            return f"lists.range({self.pick('3', 'i', '0', '-1')})"
        if way == 9:
            return f"({of('bool')} ? {of('list')} : {of('list')})"
        return f"[{of('int')}, ?{of('optional')}]"

    def dynlist(self, n):
        return self.pick("object.spec.mixed", "object.spec.containers",
                         "object.spec.list", "object.spec.nothing",
                         "object.spec.words")

    def words(self, n):
        if n <= 0:
            return self.pick("w", "object.spec.words", "['a', 'b']")
        way = self.rng.randrange(4)
        if way == 0:
            return f"[{self.of('string', n)}, {self.of('string', n)}]"
        if way == 1:
            more = self.pick("", f", {self.of('int', n)}")
            return f"{self.of('string', n)}.split({self.of('string', n)}{more})"
        if way == 2:
            listed, inner = self.fold("words", n, kinds=("string",),
                                      body="string")
            return f"{listed}.map(x, {inner})"
        return f"{self.of('string', n)}.findAll({self.rng.choice(PATTERNS)})"

    def map(self, n):
        if n <= 0:
            return self.pick("m", "n", "object.metadata.labels",
                             "object.spec.none", "{'a': 1}")
        way = self.rng.randrange(3)
        if way == 0:
            return f"{{{self.of('string', n)}: {self.of('int', n)}, " \
                   f"'k': {self.of('int', n)}}}"
        kinds = ("string", "dyn")
        listed, inner = self.fold("single", n, ("k", "v"), kinds, "int")
        if way == 1:
            return f"{listed}.transformMap(k, v, {inner})"
        return f"{listed}.transformMapEntry(k, v, {{k: {inner}}})"

    def single(self, n):
        """Return a map of at most one key: the order of Go's maps is random."""
        if n <= 0 or self.rng.random() < 0.5:
            return self.pick("m", "n", "object.metadata.labels",
                             "object.spec.none", "{'a': 1}")
        return f"{{{self.of('string', n)}: {self.of('int', n)}}}"

    def dyn(self, n):
        return self.pick("object.spec", "object.spec.nothing", "object.zzz",
                         "object.spec.containers[0].limits",
                         "object.metadata.labels['app']", "m['a']", "m.zzz",
                         "object.spec.mixed[2]", "object.spec.mixed",
                         f"dyn({self.of('int', n)})",
                         f"dyn({self.of('string', n)})",
                         f"type({self.of('number', n)})")

    def optional(self, n):
        if n <= 0:
            return self.pick("o", "optional.none()", "object.?spec.?n",
                             "m.?a", "m[?'zzz']", "object.?zzz.n", "l[?1]")
        way = self.rng.randrange(4)
        if way == 0:
            return f"optional.{self.pick('of', 'ofNonZeroValue')}" \
                   f"({self.of('int', n)})"
        if way == 1:
            return f"{self.of('optional', n)}.or({self.of('optional', n)})"
        if way == 2:
            self.local.append(("y", "dyn"))
            inner = self.of("int", n)
            self.local.pop()
            return f"{self.of('optional', n)}.optMap(y, {inner})"
        return f"{self.of('list', n)}.{self.pick('first', 'last')}()"


def main(count, seed):
    rng = random.Random(seed)
    maker = Maker(rng)
    for _ in range(count):
        expr = maker.expression()
        names = set(re.findall(r"\b[a-z]+\b", expr))
        case = {"expr": expr, "vars": {
            k: v for k, v in VARIABLES.items() if k in names}}
        if rng.random() < 0.1:
            case["budget"] = rng.randrange(1, 300)
        print(json.dumps(case))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
