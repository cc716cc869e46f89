#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the rows of rules/kube/data/custom_types.tsv from
CustomResourceDefinitions.

usage: custom_types.py FOLDER... (each is searched for *.yaml)
       custom_types.py --constraints TABLE FOLDER...
       custom_types.py --missing TABLE FOLDER...

The table has each field that any of the files has. Its type is `any` if the
files differ. A word that any of them allows is allowed, and a field is
required if all of them require it and none has a default for it. Parts that
Kubernetes' own types define (pods, metadata) have any type here, because other
tables have them. The folders should have the definitions of all releases: `git
show TAG:PATH` for each tag of an operator.

A constraint holds in all definitions, or names the first of the later releases
that have it: the path of a definition contains its release, such as v0.18.0.

With --constraints, reads the types from the table, because some of its rows are
corrected by hand.

With --missing, prints the fields, words and constraints of the definitions that
differ from the table: missing fields and words, and fields and constraints that
the table alone requires. Fails if there are any, or if no definition was found.
"""
import functools
import pathlib
import re
import sys

import yaml

from custom_kinds import (ANY_SCALARS, EARLIER, FILLED, FORMER, KINDS,
                          MUTATED, RELEASED, SAID)

DATA = pathlib.Path(__file__).resolve().parents[2] / "rules/kube/data"
LETTERS = {"string": "s", "integer": "i", "boolean": "b", "number": "f"}
OPTIONAL, REQUIRED, NEVER_ZERO = range(3)
AT_LEAST = {"minimum", "minLength", "minItems", "minProperties"}
AT_MOST = {"maximum", "maxLength", "maxItems", "maxProperties"}
FORMATS = {"date-time"}
PAIRS = {
    "range": ("minimum", "maximum"),
    "length": ("minLength", "maxLength"),
    "items": ("minItems", "maxItems"),
    "keys": ("minProperties", "maxProperties"),
}
BOUNDS = {
    "integer": PAIRS["range"],
    "string": (*PAIRS["length"], "pattern"),
    "array": PAIRS["items"],
    "object": PAIRS["keys"],
}
INT32 = -2**31, 2**31 - 1
LATER = (10**6,)  # release of a definition whose path has none
PARTS_OF_PODS = (
    "selector", "affinity", "volumes", "tolerations", "env", "envFrom",
    "resources", "volumeMounts", "containers", "initContainers",
    "volumeClaimTemplates", "securityContext")


def parse_table(rows):
    """Return the table's types, as {name: {field: form}}, the type of each
    (group/version, kind), and the words of each enumeration."""
    types, kinds, words = {}, {}, {}
    for row in rows:
        cells = row.split("\t")
        if cells[0] == "@":
            kinds[f"{cells[1]}/{cells[2]}", cells[3]] = cells[4]
        elif cells[0] == "=":
            words[cells[1]] = frozenset(cells[2:])
        elif not row.startswith("#") and len(cells) == 2:
            types[cells[0]] = dict(
                one.split("=", 1) for one in cells[1].split())
    return types, kinds, words


def read_table(path):
    with open(path, encoding="utf-8") as file:
        return parse_table(file.read().splitlines())


NATIVE = {name: set(fields) for name, fields in
          read_table(DATA / "native_types.tsv")[0].items()}


class Form:
    """The type of a field.

    many is "" for one value, "[" for a list, "{" for a map. base is a letter or
    {name: (Form, need)}. words are the words of its enumeration, or None.
    bounds are the constraints of the value, and item_bounds those of the items
    of a list or map, as {constraint: argument}."""

    def __init__(self, base, many="", words=None, bounds=None,
                 item_bounds=None):
        self.base, self.many, self.words = base, many, words
        self.bounds, self.item_bounds = bounds or {}, item_bounds or {}

    def is_any(self):
        return self.base == "x"


ANY = Form("x")


def weakest(name, a, b):
    """Returns the argument with which a constraint holds if it holds with one
    of two arguments, or None."""
    if name in AT_LEAST:
        return min(a, b)
    if name in AT_MOST:
        return max(a, b)
    return a if a == b else None


def weaken(a, b):
    """Returns the constraints that both have."""
    both = {name: weakest(name, a[name], b[name])
            for name in a.keys() & b.keys()}
    return {name: value for name, value in both.items() if value is not None}


def merge(a, b):
    """Returns the union of two forms."""
    if a.many != b.many:
        return ANY
    bounds = weaken(a.bounds, b.bounds), weaken(a.item_bounds, b.item_bounds)
    if isinstance(a.base, dict) and isinstance(b.base, dict):
        fields = {}
        for name in a.base.keys() | b.base.keys():
            one, other = a.base.get(name), b.base.get(name)
            fields[name] = (merge(one[0], other[0]), min(one[1], other[1])) \
                if one and other else ((one or other)[0], OPTIONAL)
        return Form(fields, a.many, None, *bounds)
    if a.base != b.base:
        return ANY
    words = a.words | b.words if a.words and b.words else None
    return Form(a.base, a.many, words, *bounds)


def is_native(name, fields):
    """True for metadata, status and the parts of a pod."""
    names = set(fields)
    spec = fields.get("spec", {}).get("properties", {})
    return (name in ("metadata", "status")
            or "containers" in fields and names <= NATIVE["PodSpec"]
            or "containers" in spec and set(spec) <= NATIVE["PodSpec"]
            or name in PARTS_OF_PODS and any(
                names <= one and 2 * len(names) >= len(one)
                or len(names & one) >= 10 for one in NATIVE.values()))


def extended(fields):
    """Returns the native type that the fields extend, or None."""
    if "containers" in fields:
        return "PodSpec"
    if fields.keys() >= {"image", "command", "args", "resources"} and \
            fields["image"].get("type") == "string" and \
            len(fields.keys() & NATIVE["Container"]) > 12:
        return "Container"
    return None


def rejects_zero(schema):
    """True if the zero value of the Go type is invalid: no items, no map, or
    an empty string, 0, or a struct with an invalid part."""
    if schema.get("nullable"):
        return False
    kind = schema.get("type")
    if kind == "string":
        words = schema.get("enum")
        return schema.get("minLength", 0) > 0 or bool(words) and "" not in words
    if kind in ("integer", "number"):
        return schema.get("minimum", 0) > 0
    if kind == "array" or schema.get("additionalProperties"):
        return True
    return any(need_of(schema, name) == NEVER_ZERO
               for name in schema.get("properties") or {})


def need_of(schema, name):
    one = schema["properties"][name] or {}
    if name not in schema.get("required", []) or "default" in one or \
            one.get("nullable"):
        return OPTIONAL
    return NEVER_ZERO if rejects_zero(one) else REQUIRED


def bounds_of(schema):
    """Returns the constraints of a value that the API server checks."""
    bounds = {}
    # Unknown fields are dropped before the others are counted.
    names = () if "properties" in schema else \
        BOUNDS.get(schema.get("type"), ("pattern",))
    for one in [schema, *schema.get("allOf", [])]:
        bounds.update((name, one[name]) for name in names if name in one)
    if schema.get("format") == "int32":
        bounds["minimum"] = max(bounds.get("minimum", INT32[0]), INT32[0])
        bounds["maximum"] = min(bounds.get("maximum", INT32[1]), INT32[1])
    elif schema.get("format") in FORMATS:
        bounds["format"] = schema["format"]
    return bounds


def form_of_map(schema, fields):
    native = extended(fields)
    known = NATIVE[native] if native else set()
    forms = {name: (ANY, OPTIONAL) for name in known}
    for name, one in fields.items():
        if name not in known:
            forms[name] = (form_of(name, one or {}), need_of(schema, name))
    return Form(forms, bounds=bounds_of(schema))


def form_of_item(name, schema, many, bounds):
    form = form_of(name, schema)
    return ANY if form.many or form.is_any() and not form.bounds else \
        Form(form.base, many, form.words, bounds, form.bounds)


def form_of(name, schema):
    if schema.get("x-kubernetes-int-or-string"):
        return Form("x" if "pattern" in schema else "o",
                    bounds=bounds_of(schema))
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return ANY
    kind = schema.get("type")
    if kind in LETTERS:
        words = schema.get("enum")
        return Form(LETTERS[kind], words=frozenset(words)
                    if words and kind == "string" else None,
                    bounds=bounds_of(schema))
    if kind == "array" and name == "env":
        return Form("TEnvVar", "[")
    if kind == "array":
        return form_of_item(name, schema.get("items", {}), "[",
                            bounds_of(schema))
    more = schema.get("additionalProperties")
    if isinstance(more, dict):
        return form_of_item(name, more, "{", bounds_of(schema))
    fields = schema.get("properties")
    if not fields or more or is_native(name, fields):
        return ANY
    return form_of_map(schema, fields)


def read(folders):
    """Returns the form of each (group/version, kind), the kinds of which some
    definitions list no fields, or none of spec, and the form of each release."""
    kinds, loose, releases = {}, set(), {}
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*.yaml")):
            text = path.read_text(errors="replace")
            if "CustomResourceDefinition" not in text or "{{" in text:
                continue
            for crd in yaml.load_all(text, yaml.CSafeLoader):
                if not crd or crd.get("kind") != "CustomResourceDefinition" or \
                        not crd.get("spec", {}).get("group"):
                    continue
                kind = crd["spec"]["names"]["kind"]
                for version in crd["spec"].get("versions") or []:
                    at = f"{crd['spec']['group']}/{version['name']}"
                    schema = version.get("schema", {}).get("openAPIV3Schema")
                    if schema and version.get("served") and \
                            kind in KINDS.get(at, []):
                        one = add_schema(kinds, loose, (at, kind), schema)
                        releases.setdefault((at, kind), []).append(
                            (release_of(path.relative_to(folder)), one))
    return kinds, loose, releases


def release_of(path):
    """Returns the release of which a part of the path has the name: 0.18 of
    v0.18.0/x.yaml, 0.18.1 of v0.18.1/x.yaml."""
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", str(path))
    if not found:
        return LATER
    numbers = tuple(int(one or 0) for one in found.groups())
    return numbers if numbers[2] else numbers[:2]


def without_scalars(form):
    """Returns the form with any type instead of each string or number."""
    if not isinstance(form.base, dict):
        return ANY
    return Form({name: (without_scalars(one), need)
                 for name, (one, need) in form.base.items()}, form.many)


def without_words(form):
    """Returns the form without its enumerations."""
    if not isinstance(form.base, dict):
        return Form(form.base, form.many)
    return Form({name: (without_words(one), need)
                 for name, (one, need) in form.base.items()}, form.many)


def add_schema(kinds, loose, key, schema):
    one = form_of(key[1], schema)
    if key[0].split("/")[0] in ANY_SCALARS and not one.is_any():
        one = without_scalars(one)
    if one.is_any() or "spec" in one.base and one.base["spec"][0].is_any():
        loose.add(key)
    else:
        kinds[key] = merge(kinds[key], one) if key in kinds else one
    return one


def unused(name, names):
    """Returns the name with the next free number that does not end with 0,
    because 0 has a meaning at the end of a form."""
    own, n = name, 1
    while own in names:
        n += 2 if n % 10 == 9 else 1
        own = f"{name}{n}"
    return own


class Types:
    def __init__(self):
        self.rows, self.names, self.enums = [], {}, {}

    def add_words(self, key, words):
        if words not in self.enums:
            self.enums[words] = unused(key, self.enums.values())
        return self.enums[words]

    def add(self, name, kind, fields, least):
        """Returns the name of a type with these fields. A field with at least
        this need is required."""
        text = " ".join(f"{key}={self.form(key, kind, form, least)}"
                        f"{'+' if need >= least else ''}"
                        for key, (form, need) in sorted(fields.items()))
        if (name, text) not in self.names:
            own = unused(f"{name}.{kind}", self.names.values())
            self.names[name, text] = own
            self.rows.append(f"{own}\t{text}")
        return self.names[name, text]

    def form(self, key, kind, form, least):
        if isinstance(form.base, dict):
            return form.many + "T" + self.add(key, kind, form.base, least)
        words = f"({self.add_words(key, form.words)})" if form.words else ""
        return form.many + form.base + words


def parse_form(text):
    """Splits a form of the table into many, base, enumeration and need."""
    many, base, words, need = re.fullmatch(
        r"([\[{]*)(T[^(+]+|[a-z])(?:\((\w+)\))?(\+?)", text).groups()
    return many, base, words, bool(need)


class Constrained:
    """The types of a table with their constraints. A type whose constraints
    are not the same in all places becomes several types."""

    def __init__(self, types):
        self.types, self.names, self.constraints = types, {}, {}
        self.said = ()  # fields of the kind without constraints

    def add(self, name, forms, mutated):
        """Returns the name of the type in this place. forms are the form of
        its fields and, of each release, the release and the form."""
        fields, rows = {}, []
        for key, text in self.types[name].items():
            inner = [(release, form.base[key][0]) for release, form in forms
                     if isinstance(form.base, dict) and key in form.base]
            many, base, words, need = parse_form(text)
            if base[0] == "T" and base[1:] in self.types:
                base = "T" + self.add(base[1:], inner, mutated)
            fields[key] = many + base + (f"({words})" if words else "") + \
                ("+" if need else "")
            # An enumeration is stricter.
            if inner and not words and key not in self.said:
                rows += field_rows(key, [(release, form.bounds)
                                         for release, form in inner], mutated)
                rows += field_rows(f"{key}[]", [
                    (release, form.item_bounds)
                    for release, form in inner], mutated)
        at = name, tuple(fields.items()), tuple(rows)
        if at not in self.names:
            taken = self.constraints if name in self.constraints else ()
            own = unused(name, taken and {*self.types, *self.constraints})
            self.names[at], self.constraints[own] = own, (fields, rows)
        return self.names[at]


def field_rows(key, found, mutated):
    """Returns the cells of the rows of a field. found has the weakest bounds,
    then the bounds of each release. zero marks a bound that a zero value violates,
    because a mutating webhook may omit it."""
    weakest_bounds, releases = found[0][1], sorted(
        {release for release, _ in found[1:]})
    rows = [(key, name, argument, "zero" if mutated and zero else "")
            for name, argument, zero in arguments(weakest_bounds)]
    last = [bounds for release, bounds in found[1:]
            if release == releases[-1]]
    latest = functools.reduce(weaken, last) if last else {}
    for name, argument, zero in arguments(latest):
        some = {one: latest[one] for one in PAIRS.get(name, (name,))
                if one in latest}
        lacking = max((release for release, bounds in found[1:]
                       if weaken(some, bounds) != some), default=None)
        # The next minor release, if there is one.
        since = lacking and lacking < LATER and (lacking[0], lacking[1] + 1)
        if since and any(since <= one < LATER for one in releases):
            rows.append((key, name, argument, "zero" if mutated and zero
                         else "-", "{}.{}".format(*since)))
    return rows


def arguments(bounds):
    """Yields the constraints as rows of the table have them, and True for those
    that a zero value violates."""
    for name, pair in PAIRS.items():
        least, most = (bounds.get(one) for one in pair)
        if least == INT32[0] and most is None:
            continue # the field had 32 bits, and has 64 now
        if least is not None or most is not None:
            yield (name, " ".join("-" if one is None else str(one)
                                  for one in (least, most)),
                   (least or 0) > 0 or (most or 0) < 0)
    if "pattern" in bounds:
        pattern = bounds["pattern"].replace("\t", "\\t")
        # Python rejects some patterns that Go accepts.
        yield "pattern", pattern, "(?i)" in pattern or \
            not re.search(pattern, "")
    if "format" in bounds:
        yield "format", bounds["format"], True


def read_constraints(path):
    """Returns the table's constraints of all releases, as {(type, field):
    bounds}."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for row in file:
            cells = row.rstrip("\n").split("\t")
            if cells[0] == "!" and len(cells) < 7:
                bounds = found.setdefault((cells[1], cells[2]), {})
                pair = PAIRS.get(cells[3])
                bounds.update({cells[3]: cells[4]} if not pair else {
                    name: int(text) for name, text in
                    zip(pair, cells[4].split()) if text != "-"})
    return found


def stricter(bounds, form):
    """True if the table's constraints reject a value that the definition
    accepts."""
    return any(weaken(one, of_form) != one for one, of_form in
               zip(bounds, (form.bounds, form.item_bounds)))


def lacks(table, name, fields, path):
    """Yields the paths of fields and words that the type of this name lacks,
    and of fields that only the type requires or constrains."""
    types, words, constraints = table
    for key, text in types[name].items():
        if parse_form(text)[3] and (
                key not in fields or not fields[key][1]):
            yield f"{path}.{key} is not required"
    for key, (form, _) in sorted(fields.items()):
        at = f"{path}.{key}"
        if key not in types[name]:
            yield at
            continue
        _, base, enum, _ = parse_form(types[name][key])
        if isinstance(form.base, dict) and base[0] == "T":
            yield from lacks(table, base[1:], form.base, at)
        elif enum and not (form.words and form.words <= words[enum]):
            yield f"{at} has other words"
        if stricter([constraints.get((name, one), {})
                     for one in (key, f"{key}[]")], form):
            yield f"{at} has other constraints"


def compare(table, folders):
    types, kinds, words = read_table(table)
    bounds, found, n = read_constraints(table), [], 0
    for key, form in sorted(read(folders)[0].items()):
        n += 1
        found += lacks((types, words, bounds), kinds[key], form.base, key[1]) \
            if key in kinds else [key[1]]
    print("\n".join(found))
    sys.exit(bool(found) or not n)


def has_kind(groups, group, kind):
    return group in groups and (groups[group] is None or
                                kind in groups[group])


def least_need(at, kind, loose):
    """Returns the need from which a field is required."""
    group = at.split("/")[0]
    if (at, kind) in loose or has_kind(FILLED, group, kind):
        return NEVER_ZERO + 1
    return NEVER_ZERO if has_kind(MUTATED, group, kind) else REQUIRED


def constrain(table, forms, loose, releases):
    """Returns the rows of a table with the constraints of its types."""
    rows, (types, kinds, _) = [], parse_table(table)
    constrained = Constrained(types)
    for row in table:
        if not row.startswith("@"):
            continue
        cells = row.split("\t")
        at = f"{cells[1]}/{cells[2]}", cells[3]
        known = [] if at in loose or at not in forms else [(None, forms[at])]
        if known and cells[1] in RELEASED:
            known += releases[at]
        constrained.said = SAID.get(cells[1], ())
        cells[4] = constrained.add(kinds[at], known, has_kind(
            MUTATED, cells[1], cells[3]))
        rows.append("\t".join(cells))
    rows += [row for row in table if row.startswith("=")]
    found = [(name, constrained.constraints[name])
             for name in {**types, **constrained.constraints}
             if name in constrained.constraints]
    rows += [name + "\t" + " ".join(f"{key}={form}" for key, form in
                                    fields.items())
             for name, (fields, _) in found]
    rows += ["\t".join(("!", name, *cells)).rstrip("\t")
             for name, (_, constraints) in found for cells in constraints]
    return rows


def type_rows(forms, loose):
    """Returns the rows of the kinds, words and types."""
    types, kinds = Types(), []
    for (at, kind), form in sorted(forms.items()):
        if (at, kind) in loose:
            form = without_words(form)
        fields = dict(form.base)
        for name in ("apiVersion", "kind"):
            fields[name] = (Form("s"), OPTIONAL)
        fields["metadata"] = fields["status"] = (ANY, OPTIONAL)
        for name in EARLIER.get((at, kind), []):
            fields["spec"][0].base.setdefault(name, (ANY, OPTIONAL))
        for name in FORMER.get(at, []):
            fields["spec"][0].base.pop(name, None)
        group, version = at.split("/")
        name = types.add(kind, re.sub(r"\W", "", group), fields,
                         least_need(at, kind, loose))
        kinds.append(f"@\t{group}\t{version}\t{kind}\t{name}" +
                     ("\tloose" if (at, kind) in loose else ""))
    words = ["\t".join(["=", name, *sorted(one)])
             for one, name in types.enums.items()]
    return kinds + words + types.rows


def main():
    if sys.argv[1:2] == ["--missing"]:
        compare(sys.argv[2], sys.argv[3:])
    given = sys.argv[1:2] == ["--constraints"]
    forms, loose, releases = read(sys.argv[3 if given else 1:])
    rows = pathlib.Path(sys.argv[2]).read_text().splitlines() if given else \
        type_rows(forms, loose)
    print("\n".join(constrain(rows, forms, loose, releases)))


if __name__ == "__main__":
    main()
