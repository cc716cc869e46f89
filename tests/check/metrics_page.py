#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Read a page of metrics (text format 0.0.4) strictly.

usage: metrics_page.py FILE [SERIES VALUE]...

Exits with 1 and prints the place if the page breaks the format or its
conventions, or if a SERIES does not have the VALUE (`-`: it must be absent).
"""
import math
import re
import sys

NAME = re.compile(r'[a-zA-Z_:][a-zA-Z0-9_:]*')
LABEL = re.compile(r'[a-zA-Z_][a-zA-Z0-9_]*')
NUMBER = re.compile(r'[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|[+-]Inf|NaN', re.I)
TYPES = {'counter', 'gauge', 'histogram', 'summary', 'untyped'}
ESCAPES = {'\\': '\\', '"': '"', 'n': '\n'}


class Bad(Exception):
    pass


def need(condition, text):
    if not condition:
        raise Bad(text)


def label_value(line, at):
    """Return the value that begins at a quote, and the place after it."""
    need(line[at:at + 1] == '"', 'no quote before a label value')
    at += 1
    out = []
    while True:
        need(at < len(line), 'label value without an end')
        c = line[at]
        if c == '"':
            return ''.join(out), at + 1
        if c == '\\':
            at += 1
            need(at < len(line) and line[at] in ESCAPES, 'bad escape')
            c = ESCAPES[line[at]]
        out.append(c)
        at += 1


def labels(line, at):
    found = {}
    while True:
        match = LABEL.match(line, at)
        need(match, 'bad label name')
        name, at = match.group(), match.end()
        need(name not in found and not name.startswith('__'),
             'label twice or reserved: ' + name)
        need(line[at:at + 1] == '=', 'no = behind a label name')
        found[name], at = label_value(line, at + 1)
        if line[at:at + 1] == '}':
            return found, at + 1
        need(line[at:at + 1] == ',', 'no , between labels')
        at += 1


def sample(line):
    match = NAME.match(line)
    need(match, 'bad metric name')
    name, at, found = match.group(), match.end(), {}
    if line[at:at + 1] == '{':
        found, at = labels(line, at + 1)
    need(line[at:at + 1] == ' ', 'no blank before the value')
    need(NUMBER.fullmatch(line[at + 1:]), 'bad value')
    return name, found, float(line[at + 1:])


class Page:
    def __init__(self):
        self.types, self.helps, self.series = {}, {}, {}
        self.current, self.closed = None, set()

    def family(self, name):
        if name != self.current:
            need(name not in self.closed, 'family in two places: ' + name)
            self.closed.add(self.current)
            self.current = name

    def comment(self, line):
        match = re.fullmatch(r'# (HELP|TYPE) (\S+) (.+)', line)
        need(match, 'a comment that is neither HELP nor TYPE')
        what, name, text = match.groups()
        need(NAME.fullmatch(name), 'bad metric name')
        self.family(name)
        table = self.helps if what == 'HELP' else self.types
        need(name not in table, what + ' twice')
        if what == 'TYPE':
            need(text in TYPES, 'no such type')
            need(name in self.helps, 'TYPE without HELP')
        table[name] = text

    def add(self, line):
        name, found, value = sample(line)
        base = self.current
        need(base in self.types, 'sample without a family')
        kind = self.types[base]
        tails = {'histogram': ['_bucket', '_sum', '_count']}.get(kind, [''])
        need(name in [base + t for t in tails],
             '%s among the samples of %s' % (name, base))
        if kind in ('counter', 'histogram'):
            need(value >= 0, 'negative ' + kind)
        key = (name, tuple(sorted(found.items())))
        need(key not in self.series, 'series twice')
        self.series[key] = value

    def conventions(self):
        for name, kind in self.types.items():
            need(kind != 'counter' or name.endswith('_total'),
                 'counter without _total: ' + name)
            need(kind == 'counter' or not name.endswith('_total'),
                 '_total that is no counter: ' + name)

    def histograms(self):
        for base in [n for n, t in self.types.items() if t == 'histogram']:
            sets = {}
            for (name, found), value in self.series.items():
                if name == base + '_bucket':
                    found = dict(found)
                    bound = float(found.pop('le'))
                    key = tuple(sorted(found.items()))
                    sets.setdefault(key, []).append((bound, value))
            need(sets, base + ' has no series')
            for key, buckets in sets.items():
                need(buckets == sorted(buckets), 'buckets out of order')
                values = [v for _, v in buckets]
                need(values == sorted(values), 'buckets do not add up')
                need(buckets[-1][0] == math.inf, 'no +Inf bucket')
                count = self.series.get((base + '_count', key))
                total = self.series.get((base + '_sum', key))
                need(count == values[-1], 'count is not the +Inf bucket')
                need(total is not None, 'no sum')
                low = sum((v - p) * b for (v, p, b) in zip(
                    values, [0] + values,
                    [0] + [b for b, _ in buckets[:-1]]))
                need(low <= total * (1 + 1e-9) + 1e-9,
                     'sum below what the buckets say')


def read(data):
    page = Page()
    text = data.decode('utf-8', 'strict')
    need(text.endswith('\n'), 'no newline at the end')
    for number, line in enumerate(text[:-1].split('\n'), 1):
        try:
            if line.startswith('#'):
                page.comment(line)
            elif line:
                page.add(line)
        except Bad as bad:
            raise Bad('line %d: %s: %r' % (number, bad, line)) from None
    page.conventions()
    page.histograms()
    return page


def main():
    with open(sys.argv[1], 'rb') as file:
        data = file.read()
    try:
        page = read(data)
        asked = sys.argv[2:]
        for series, wanted in zip(asked[::2], asked[1::2]):
            name, found, _ = sample(series + ' 0')
            value = page.series.get((name, tuple(sorted(found.items()))))
            need((value is None) if wanted == '-' else
                 value is not None and value == float(wanted),
                 '%s is %s, wanted %s' % (series, value, wanted))
    except (Bad, UnicodeDecodeError) as bad:
        print('metrics page: %s' % bad, file=sys.stderr)
        return 1
    print('metrics page: %d families, %d series' %
          (len(page.types), len(page.series)))
    return 0


sys.exit(main())
