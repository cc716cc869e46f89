# SPDX-License-Identifier: Apache-2.0
"""Real manifests with values of the wrong shape, one JSON file each.

usage: shapes.py DOC_DUMP CORPUS OUT COUNT [SEED]

Each takes a document of the corpus and puts something else in place of one to
four of its values: another type, nothing, a huge number, an empty map.
"""
import copy
import json
import pathlib
import random
import subprocess
import sys

ODD = [None, True, 0, -1, 9223372036854775807, 1e300, "", "1Zi", "${X}", [],
       {}, [[]], [None], {"": None}, ["a"], {"name": ["x"]}, "9" * 400,
       [{"name": "x"}, {"name": "x"}], "\x00", "-9223372036854775808"]


def documents(dump, corpus):
    files = sorted(str(p) for p in pathlib.Path(corpus).rglob("*.y*ml"))
    found = []
    for i in range(0, len(files), 200):
        run = subprocess.run([dump, *files[i:i + 200]], capture_output=True,
                             text=True, errors="replace", check=False)
        found += [line for line in run.stdout.splitlines()
                  if line.startswith("{")]
    return found


def places(value, path=()):
    yield path
    items = (value.items() if isinstance(value, dict)
             else enumerate(value) if isinstance(value, list) else ())
    for key, child in items:
        yield from places(child, path + (key,))


def put(root, path, value):
    if not path:
        return value
    at = root
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return root


def main():
    dump, corpus, out, count = sys.argv[1:5]
    pick = random.Random(int(sys.argv[5]) if len(sys.argv) > 5 else 1)
    texts = documents(dump, corpus)
    assert texts, "no documents"
    folder = pathlib.Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    for n in range(int(count)):
        root = json.loads(pick.choice(texts))
        for _ in range(pick.randint(1, 4)):
            root = put(root, pick.choice(list(places(root))),
                       copy.deepcopy(pick.choice(ODD)))
            if not isinstance(root, (dict, list)):
                break
        (folder / f"{n}.json").write_text(json.dumps(root, ensure_ascii=False))


main()
