# SPDX-License-Identifier: Apache-2.0
"""Write an image layout (OCI image-spec 1.1) as a tar file in $RELEASE_DIR,
without a daemon. Its single layer contains the programs COMMAND... from $STAGE
and the files that they need, but no shell; the image runs the first program, as
user 65532. The libraries are copied from this machine, where the programs were
linked.

usage: image.py SYSTEM-ARCHITECTURE COMMAND...
       image.py packages COMMAND    the packages of its libraries, NAME=VERSION
"""

import datetime
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

TITLES = {
    "gpugate": "Linter for GPU workload manifests on Kubernetes",
    "gpugated": "Admission webhook for GPU workloads on Kubernetes",
}
ACCOUNTS = {
    "etc/passwd": "root:x:0:0:root:/:/nologin\n"
                  "nonroot:x:65532:65532:nonroot:/:/nologin\n",
    "etc/group": "root:x:0:\nnonroot:x:65532:\n",
}


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL).stdout


def program(command):
    return Path(os.environ["STAGE"]) / "usr/bin" / command


def libraries(command):
    """Return the paths of the libraries and of the loader, as ldd prints them; none
    for a static executable."""
    return sorted(set(re.findall(r"(/[^ \n]*) \(0x",
                                 output("ldd", str(program(command))))))


def packages(command):
    """Return the Debian packages that contain these libraries: NAME=VERSION."""
    names = set()
    for path in libraries(command):
        for name in (path, os.path.realpath(path), "/usr" + path):
            found = output("dpkg", "-S", name)
            if found:
                names.add(found.split(":")[0])
                break
        else:
            raise SystemExit(f"image.py: no package has {path}")
    text = output("dpkg-query", "-W", "-f",
                  "${binary:Package}=${Version}\\n", *sorted(names)) \
        if names else ""
    return [re.sub(r":[^=]*=", "=", line) for line in text.splitlines()]


def files(commands):
    """Return the path, mode and bytes of every file in the image."""
    found = {"usr/share/doc/gpugate/copyright":
             (0o644, Path("LICENSE").read_bytes())}
    for name, text in ACCOUNTS.items():
        found[name] = (0o644, text.encode())
    for command in commands:
        found[f"usr/bin/{command}"] = (0o755, program(command).read_bytes())
        for path in libraries(command):
            found[path.lstrip("/")] = (0o755, Path(path).read_bytes())
        for package in packages(command):
            path = f"usr/share/doc/{package.split('=')[0]}/copyright"
            found[path] = (0o644, Path("/", path).read_bytes())
    return found


class Archive:
    """A tar whose bytes depend only on its contents."""

    def __init__(self):
        self.bytes = io.BytesIO()
        self.tar = tarfile.open(fileobj=self.bytes, mode="w",
                                format=tarfile.PAX_FORMAT)
        self.folders = set()

    def folder(self, name, mode=0o755):
        if name in ("", ".") or name in self.folders:
            return
        self.folder(os.path.dirname(name))
        self.folders.add(name)
        entry = tarfile.TarInfo(name)
        entry.type = tarfile.DIRTYPE
        entry.mode = mode
        entry.mtime = int(os.environ["SOURCE_DATE_EPOCH"])
        self.tar.addfile(entry)

    def file(self, name, data, mode=0o644):
        self.folder(os.path.dirname(name))
        entry = tarfile.TarInfo(name)
        entry.mode = mode
        entry.size = len(data)
        entry.mtime = int(os.environ["SOURCE_DATE_EPOCH"])
        self.tar.addfile(entry, io.BytesIO(data))

    def close(self):
        self.tar.close()
        return self.bytes.getvalue()


def layer(commands):
    archive = Archive()
    archive.folder("tmp", 0o1777)
    for name, (mode, data) in sorted(files(commands).items()):
        archive.file(name, data, mode)
    return archive.close()


def created():
    return datetime.datetime.fromtimestamp(
        int(os.environ["SOURCE_DATE_EPOCH"]),
        datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def labels(command):
    values = {
        "title": command,
        "description": TITLES[command],
        "licenses": "Apache-2.0",
        "version": os.environ["VERSION"],
        "revision": os.environ.get("COMMIT") or "unknown",
        "created": created(),
        "source": os.environ["RELEASE_URL"],
    }
    return {f"org.opencontainers.image.{name}": value
            for name, value in values.items()}


def config(system, command, diff):
    operating, machine = system.split("-")
    run = {
        "User": "65532:65532",
        "Env": ["PATH=/usr/bin"],
        "Entrypoint": [f"/usr/bin/{command}"],
        "WorkingDir": "/",
        "Labels": labels(command),
    }
    if command == "gpugated":
        run["ExposedPorts"] = {"8443/tcp": {}, "8080/tcp": {}}
    return {
        "created": created(), "architecture": machine, "os": operating,
        "config": run,
        "rootfs": {"type": "layers", "diff_ids": [diff]},
        "history": [{"created": created(), "created_by": "image.py"}],
    }


def build(system, commands):
    version = os.environ["VERSION"]
    layout = Archive()
    kinds = "application/vnd.oci.image."

    def blob(kind, data):
        digest = hashlib.sha256(data).hexdigest()
        layout.file(f"blobs/sha256/{digest}", data)
        return {"mediaType": kinds + kind, "digest": f"sha256:{digest}",
                "size": len(data)}

    plain = layer(commands)
    packed = io.BytesIO()
    with gzip.GzipFile("", "wb", fileobj=packed, mtime=0) as out:
        out.write(plain)
    diff = "sha256:" + hashlib.sha256(plain).hexdigest()
    manifest = {
        "schemaVersion": 2,
        "mediaType": kinds + "manifest.v1+json",
        "config": blob("config.v1+json", json.dumps(
            config(system, commands[0], diff)).encode()),
        "layers": [blob("layer.v1.tar+gzip", packed.getvalue())],
        "annotations": labels(commands[0]),
    }
    reference = blob("manifest.v1+json", json.dumps(manifest).encode())
    reference["annotations"] = {
        "org.opencontainers.image.ref.name": version}
    layout.file("index.json", json.dumps({
        "schemaVersion": 2, "mediaType": kinds + "index.v1+json",
        "manifests": [reference]}).encode())
    layout.file("oci-layout", b'{"imageLayoutVersion": "1.0.0"}')
    target = f"{commands[0]}-{version}-{system}.oci.tar"
    (Path(os.environ["RELEASE_DIR"]) / target).write_bytes(layout.close())


if sys.argv[1] == "packages":
    print(" ".join(packages(sys.argv[2])))
else:
    build(sys.argv[1], sys.argv[2:])
