# SPDX-License-Identifier: Apache-2.0
"""Check a built wheel: its name, its tags, the hashes in RECORD, and the executable
bit.

usage: wheel.py WHEEL BINARY
"""

import base64
import csv
import hashlib
import io
import sys
import zipfile


def check(condition, message):
    if not condition:
        raise SystemExit(message)


def main(path, binary):
    name, version, *tags = path.rsplit("/", 1)[-1][:-len(".whl")].split("-")
    stem = f"{name}-{version}"
    archive = zipfile.ZipFile(path)
    check(archive.testzip() is None, "a damaged archive")
    rows = list(csv.reader(io.StringIO(
        archive.read(f"{stem}.dist-info/RECORD").decode())))
    check(sorted(row[0] for row in rows) == sorted(archive.namelist()),
          "RECORD lists other files than the archive holds")
    for file, digest, size in rows:
        data = archive.read(file)
        want = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
        check(file.endswith("/RECORD") or digest ==
              "sha256=" + want.decode().rstrip("="), f"hash of {file}")
        check(file.endswith("/RECORD") or int(size) == len(data), file)
    script = archive.getinfo(f"{stem}.data/scripts/gpugate")
    check(script.external_attr >> 16 & 0o777 == 0o755, "not executable")
    check(archive.read(script) == open(binary, "rb").read(), "other bytes")
    wheel = archive.read(f"{stem}.dist-info/WHEEL").decode().splitlines()
    want = [f"Tag: {tags[0]}-{tags[1]}-{tag}" for tag in tags[2].split(".")]
    check([line for line in wheel if line.startswith("Tag:")] == want,
          "the tags are not those of the name")


main(*sys.argv[1:])
