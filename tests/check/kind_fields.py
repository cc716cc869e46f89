#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Print the page that lists for every kind that makes pods where its manifest has
the fields of a PodSpec, from the rows of kinds.txt that the linter and
pod_fields.py use.

usage: kind_fields.py KINDS
"""
import collections
import pathlib
import sys

import kind_rows
from kind_rows import joined

HEAD = """\
# Kinds that make pods

This page lists where each kind has the fields of its pods. `make docs` writes it from
`rules/kube/data/kinds.txt`, the table that gpugate reads. A fix edits these places
only: a field that is not listed for a kind gets no fix.

`[]` is any item of a list, `*` any key of a map. A field with several places has the
first of them that the role or the version uses, or all of them merged.

## Kinds with pod templates

The places have every field of a PodSpec. A patch changes a template of the same
object or of another one.

| kind | PodSpecs | patches |
|---|---|---|
"""
MIDDLE = """
## Kinds whose pods are made of fields

Fields of the pod that are not listed are set by the operator, or by the other object
that the kind names. `container` is a field of the main container.
"""
MERGES = {"!": " (in place of the template's)", "&": " (added to the list)"}


def whole(row):
    return row.form in ("pod", "spec") and not \
        {"boxes", "fields", "inner"} & row.attrs.keys()


def place(row, path=""):
    """Return the path of a field of the row, from the object."""
    if path.startswith("/"):
        text = path[1:]
    elif path.startswith("^"):
        text = joined(row.group, path[1:])
    else:
        text = joined(row.group, row.pod)
        if row.form != "flat" and row.form != "spec":
            text += ".spec"
        text = joined(text, path or ".")
    return text.lstrip(".")


def version(row):
    name = row.attrs.get("version")
    if not name:
        return ""
    return " (not %s)" % name[1:] if name[0] == "!" else " (%s)" % name


def quoted(text):
    return "`%s`" % text


def field(row, text):
    """Return the cells of the page for a field: its name in the pod, and its place in
    the kind."""
    to, _, source = text.partition("=")
    mark = source[:1] if source[:1] in MERGES else ""
    source, _, join = source[len(mark):].partition("+")
    if not source:
        source = to[len("box."):] if to.startswith("box.") else to
    elif source == "^" or source == "/":
        source += to.replace("box.", "", 1)
    shown = quoted(place(row, source))
    if join:
        shown += ", " + quoted(join)
    if to == "box":
        name = "container: every field"
    elif to.startswith("box."):
        name = "container: " + quoted(to[len("box."):])
    else:
        name = quoted(to)
    return name, shown + MERGES.get(mark, "")


def box(row, text):
    kind, _, path = text.partition(":")
    path, _, resources = path.partition("@")
    path, _, name = path.partition("=")
    if kind in ("self", "else"):
        return "container: its fields", quoted(place(row))
    title = {"init": "init containers", "list": "containers",
             "side": "sidecars", "one": "container " + quoted(name)}[kind]
    shown = quoted(place(row, path) + ("" if kind == "one" else "[]"))
    if resources:
        shown += ", `resources` at " + quoted(resources)
    return title, shown


def table(kind, rows):
    """Return {field: its places}."""
    found = collections.OrderedDict()
    for row in rows:
        pairs = []
        if "inner" in row.attrs:
            pairs.append(("every field",
                          quoted(place(row, row.attrs["inner"]))))
        elif row.form in ("pod", "spec"):
            pairs.append(("every field", quoted(place(row))))
        for text in filter(None, row.attrs.get("fields", "").split(",")):
            pairs.append(field(row, text))
        for text in filter(None, row.attrs.get("boxes", "").split(",")):
            pairs.append(box(row, text))
        if "defaults" in row.attrs:
            pairs.append(("every field, if not set above",
                          quoted(row.attrs["defaults"])))
        if "based" in row.attrs:
            pairs.append(("all others", "the object that it names"))
        for name, shown in pairs:
            found.setdefault(name, [])
            shown += version(row)
            if shown not in found[name]:
                found[name].append(shown)
    return found


def main():
    kinds = kind_rows.read(pathlib.Path(sys.argv[1]))
    out, made = [HEAD], []
    for kind in kinds:
        specs = [quoted(place(row)) + version(row)
                 for row in kind.rows if whole(row)]
        patches = [quoted(joined(row.group, row.pod) + ".spec")
                   for row in kind.rows if row.form == "patch"
                   and not row.pod.endswith("Ref")]
        rows = [row for row in kind.rows
                if not whole(row) and row.form != "patch"]
        if kind.embeds:
            specs.append("those of the objects in it")
        if specs or patches:
            out.append("| %s | %s | %s |\n" % (
                kind.title(), ", ".join(specs), ", ".join(patches)))
        if rows:
            made.append((kind.title(), table(kind, rows)))
    out.append(MIDDLE)
    for title, fields in made:
        same = [name for name, other in made if other == fields]
        if same[0] != title:
            continue
        out.append("\n### %s\n\n| field of the pod | in the manifest |\n"
                   "|---|---|\n" % ", ".join(same))
        for name, places in fields.items():
            out.append("| %s | %s |\n" % (name, ", ".join(places)))
    sys.stdout.write("".join(out))


if __name__ == "__main__":
    main()
