# SPDX-License-Identifier: Apache-2.0
"""Build backend for Python packages (PEP 517, PEP 660) that needs only Python.

The wheel contains one executable: $GPUGATE_BINARY if it is set, else the one
that `make` builds here. The wheel of a static executable is tagged for every
Linux of the same architecture; any other wheel is tagged for the system on
which it was built. Two wheels of the same executable are identical.

    python3 deploy/python/gpugate_build.py wheel|sdist FOLDER

also packs executables for other machines; pip builds only for its own.
"""

import base64
import gzip
import hashlib
import io
import os
import re
import shutil
import struct
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import textwrap
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAME = "gpugate"
SUMMARY = "An offline linter for GPU workload manifests on Kubernetes"

# Libraries for a static link: the name, its header, the option, Debian's
# package.
LIBRARIES = (
    ("libyaml", "#include <yaml.h>", "-lyaml", "libyaml-dev"),
    (
        "PCRE2",
        "#define PCRE2_CODE_UNIT_WIDTH 8\n#include <pcre2.h>",
        "-lpcre2-8",
        "libpcre2-dev",
    ),
    ("Jansson", "#include <jansson.h>", "-ljansson", "libjansson-dev"),
)

# e_machine of ELF (gABI): the machine's name in wheel tags.
MACHINES = {
    3: "i686",
    21: "ppc64le",
    22: "s390x",
    40: "armv7l",
    62: "x86_64",
    183: "aarch64",
    243: "riscv64",
}
PT_INTERP = 3
# ELF; Mach-O for one machine and for several.
EXECUTABLES = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")


def version():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    found = re.search(r"^VERSION := (\S+)$", makefile, re.MULTILINE)
    if not found:
        raise SystemExit("gpugate: the Makefile has no VERSION")
    return found.group(1)


# --- the executable -------------------------------------------------------


def given_binary(path):
    """Return the bytes of $GPUGATE_BINARY, which must be an executable."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise SystemExit(f"gpugate: GPUGATE_BINARY={path}: {error.strerror}")
    if data[:4] not in EXECUTABLES or len(data) < 64:
        raise SystemExit(f"gpugate: GPUGATE_BINARY={path} is not an executable")
    return data


def check_runs(path):
    """Check that the program runs here: pip does not check the tags of a wheel that
    it built itself."""
    try:
        said = subprocess.run(
            [str(Path(path).resolve()), "version"], stdout=subprocess.PIPE
        ).stdout
    except OSError as error:
        raise SystemExit(f"gpugate: GPUGATE_BINARY={path} does not run on this"
                         f" machine: {error.strerror}")
    if not said.startswith(b"gpugate "):
        raise SystemExit(f"gpugate: GPUGATE_BINARY={path} is not gpugate")


def links(compiler, header, option, folder):
    """Return True if a program with this library links statically."""
    source = Path(folder) / "probe.c"
    source.write_text(f"{header}\nint main(void)\n{{\n\treturn 0;\n}}\n")
    command = [compiler, "-static", "-o", str(source.with_suffix("")),
               str(source), option]
    return subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ).returncode == 0


def missing_tools(folder):
    """Return the names of the missing build tools, and the Debian packages that
    have them."""
    names, packages = [], []
    if not shutil.which("make"):
        names.append("make")
        packages.append("make")
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler or not links(compiler, "#include <stdio.h>", "-lc", folder):
        names.append("a C compiler with a static C library")
        packages += ["gcc", "libc6-dev"]
    for name, header, option, package in LIBRARIES:
        if not compiler or not links(compiler, header, option, folder):
            names.append(f"{name} (static library and header)")
            packages.append(package)
    return names, packages


def explain(names, packages):
    return textwrap.fill(
        "gpugate: the executable cannot be built on this machine, because"
        f" these are missing: {', '.join(names)}. Install them (Debian and"
        f" Ubuntu: apt-get install {' '.join(packages)}) and try again, or"
        " set GPUGATE_BINARY to the path of a gpugate executable, which is"
        " then packed as it is and needs no compiler.",
        break_on_hyphens=False,
    )


def built_binary():
    """Build the executable in a new folder (the Makefile wants it at the top),
    so that an older build can leave nothing in it."""
    with tempfile.TemporaryDirectory(prefix="gpugate-") as folder:
        names, packages = missing_tools(folder)
    if names:
        raise SystemExit(explain(names, packages))
    if not os.access(ROOT, os.W_OK):
        raise SystemExit(f"gpugate: {ROOT} cannot be written to build there")
    with tempfile.TemporaryDirectory(prefix="build-pip-", dir=ROOT) as folder:
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")
        }
        environment.setdefault("CFLAGS", "-O2")
        jobs = os.cpu_count() or 1
        command = ["make", f"-j{jobs}", "RELEASE=1",
                   f"BUILD={Path(folder).name}", "gpugate"]
        if subprocess.run(command, cwd=ROOT, env=environment).returncode:
            raise SystemExit("gpugate: `make` failed, see above")
        binary = Path(folder) / NAME
        if shutil.which("strip"):
            subprocess.run(["strip", str(binary)], check=True)
        return binary.read_bytes()


def elf_machine(data):
    """Return the machine of an ELF executable and whether it is static."""
    order = "<" if data[5] == 1 else ">"
    wide = data[4] == 2
    machine = struct.unpack_from(order + "H", data, 18)[0]
    start = struct.unpack_from(order + ("Q" if wide else "I"), data,
                               32 if wide else 28)[0]
    size, count = struct.unpack_from(order + "HH", data, 54 if wide else 42)
    kinds = [
        struct.unpack_from(order + "I", data, start + i * size)[0]
        for i in range(count)
    ]
    return MACHINES.get(machine), PT_INTERP not in kinds


def macos_platform(data):
    """Return the tag of a Mach-O executable: machine and oldest system, from its
    LC_BUILD_VERSION (loader.h)."""
    machine = {0x01000007: "x86_64", 0x0100000C: "arm64"}.get(
        struct.unpack_from("<I", data, 4)[0])
    at = 32
    for _ in range(struct.unpack_from("<I", data, 16)[0]):
        command, size = struct.unpack_from("<II", data, at)
        if command == 0x32 and machine:
            oldest = struct.unpack_from("<I", data, at + 12)[0]
            return f"macosx_{oldest >> 16}_{oldest >> 8 & 255}_{machine}"
        at += size
    return None


def platforms(data):
    """Return the platform tags, sorted as required in the name of a wheel."""
    own = re.sub(r"[^a-zA-Z0-9_]", "_", sysconfig.get_platform())
    try:
        if data[:4] == b"\xcf\xfa\xed\xfe":
            return [macos_platform(data) or own]
        if data[:4] != b"\x7fELF":
            return [own]
        machine, static = elf_machine(data)
    except (struct.error, IndexError):
        raise SystemExit("gpugate: GPUGATE_BINARY is a damaged executable")
    if not machine:
        return [own]
    if not static:
        return [f"linux_{machine}"]
    glibc = {"riscv64": ["manylinux_2_31"], "armv7l": ["manylinux_2_17"]}.get(
        machine, ["manylinux2014", "manylinux_2_17"])
    return [f"{name}_{machine}" for name in glibc + ["musllinux_1_1"]]


# --- the wheel ------------------------------------------------------------


def metadata():
    text = (
        "Metadata-Version: 2.1\n"
        f"Name: {NAME}\nVersion: {version()}\nSummary: {SUMMARY}\n"
        "License: Apache-2.0\nRequires-Python: >=3.8\n"
        "Classifier: License :: OSI Approved :: Apache Software License\n"
        "Classifier: Operating System :: POSIX :: Linux\n"
        "Classifier: Operating System :: MacOS\n"
        "Classifier: Topic :: Software Development :: Quality Assurance\n"
        "Description-Content-Type: text/markdown\n\n"
    )
    return (text + (ROOT / "README.md").read_text(encoding="utf-8")).encode()


def wheel_text(tags):
    lines = ["Wheel-Version: 1.0", f"Generator: gpugate_build {version()}",
             "Root-Is-Purelib: false"]
    return "\n".join(lines + [f"Tag: {tag}" for tag in tags] + [""]).encode()


def licenses():
    """Yield our license and those of the linked libraries: the files of
    $GPUGATE_LICENSES, or Debian's copies."""
    yield "LICENSE", (ROOT / "LICENSE").read_bytes()
    given = os.environ.get("GPUGATE_LICENSES")
    if given:
        for path in sorted(Path(given).iterdir()):
            yield f"licenses/{path.name}", path.read_bytes()
        return
    for package in [item[3] for item in LIBRARIES] + ["libc6-dev"]:
        path = Path("/usr/share/doc") / package / "copyright"
        if path.is_file():
            yield f"licenses/{package}.txt", path.read_bytes()


# Files that `make install` installs below PREFIX/share, and the command that
# prints each.
SHARED = {
    "man/man1/gpugate.1": ("manpage", "1"),
    "man/man5/gpugate-policy.5": ("manpage", "5"),
    "bash-completion/completions/gpugate": ("completion", "bash"),
    "zsh/site-functions/_gpugate": ("completion", "zsh"),
    "fish/vendor_completions.d/gpugate.fish": ("completion", "fish"),
}


def shared(binary):
    """Yield manual pages and completions: those of the folder $GPUGATE_SHARE, or the
    output of the executable if it is for this machine."""
    given = os.environ.get("GPUGATE_SHARE")
    if given:
        for name in SHARED:
            yield name, (Path(given) / name).read_bytes()
        return
    with tempfile.TemporaryDirectory(prefix="gpugate-") as folder:
        program = Path(folder) / NAME
        program.write_bytes(binary)
        program.chmod(0o755)
        for name, arguments in SHARED.items():
            try:
                yield name, subprocess.run(
                    [str(program), *arguments], check=True,
                    stdout=subprocess.PIPE).stdout
            except (OSError, subprocess.CalledProcessError):
                print("gpugate: the executable does not run here, so the wheel"
                      " has no manual pages: set GPUGATE_SHARE",
                      file=sys.stderr)
                return


def add(archive, record, name, data, mode=0o644):
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = 3
    entry.external_attr = (0o100000 | mode) << 16
    archive.writestr(entry, data)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    record.append(f"{name},sha256={digest.rstrip(b'=').decode()},{len(data)}")


def pack_wheel(wheel_directory):
    path = os.environ.get("GPUGATE_BINARY")
    binary = given_binary(path) if path else built_binary()
    tags = platforms(binary)
    stem = f"{NAME}-{version()}"
    info = f"{stem}.dist-info"
    name = f"{stem}-py3-none-{'.'.join(tags)}.whl"
    record = []
    with zipfile.ZipFile(Path(wheel_directory) / name, "w") as archive:
        add(archive, record, f"{stem}.data/scripts/{NAME}", binary, 0o755)
        for path, data in shared(binary):
            add(archive, record, f"{stem}.data/data/share/{path}", data)
        for license, data in licenses():
            add(archive, record, f"{info}/{license}", data)
        add(archive, record, f"{info}/METADATA", metadata())
        add(archive, record, f"{info}/WHEEL",
            wheel_text([f"py3-none-{tag}" for tag in tags]))
        lines = "\n".join(record + [f"{info}/RECORD,,", ""])
        add(archive, record, f"{info}/RECORD", lines.encode())
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    path = os.environ.get("GPUGATE_BINARY")
    if path:
        given_binary(path)
        check_runs(path)
    return pack_wheel(wheel_directory)


def build_editable(wheel_directory, config_settings=None,
                   metadata_directory=None):
    """Build the same wheel, because there is no Python code to edit."""
    return build_wheel(wheel_directory, config_settings, metadata_directory)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    info = f"{NAME}-{version()}.dist-info"
    folder = Path(metadata_directory) / info
    folder.mkdir()
    (folder / "METADATA").write_bytes(metadata())
    return info


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_editable = get_requires_for_build_wheel
get_requires_for_build_sdist = get_requires_for_build_wheel


# --- the source distribution ----------------------------------------------


def sources():
    """Return the files of the project: those that git tracks, or all but built
    ones."""
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) if (ROOT / ".git").exists() and shutil.which("git") else None
    if listing and listing.returncode == 0 and listing.stdout:
        names = listing.stdout.decode().split("\0")[:-1]
        return sorted(name for name in names if (ROOT / name).is_file())
    names = [path.relative_to(ROOT) for path in ROOT.rglob("*")
             if path.is_file()]
    return sorted(
        str(name) for name in names
        if not re.match(r"(build(-.*)?|\.git|dist|PKG-INFO)$", name.parts[0])
        and "__pycache__" not in name.parts
    )


def add_source(archive, name, data, mode):
    entry = tarfile.TarInfo(name)
    entry.mode = mode
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))


def build_sdist(sdist_directory, config_settings=None):
    stem = f"{NAME}-{version()}"
    target = Path(sdist_directory) / f"{stem}.tar.gz"
    with open(target, "wb") as out, gzip.GzipFile(
        "", "wb", fileobj=out, mtime=0
    ) as packed, tarfile.open(
        fileobj=packed, mode="w", format=tarfile.PAX_FORMAT
    ) as archive:
        add_source(archive, f"{stem}/PKG-INFO", metadata(), 0o644)
        for name in sources():
            mode = 0o755 if os.access(ROOT / name, os.X_OK) else 0o644
            add_source(archive, f"{stem}/{name}", (ROOT / name).read_bytes(), mode)
    return target.name


def main(arguments):
    builders = {"wheel": pack_wheel, "sdist": build_sdist}
    if len(arguments) != 2 or arguments[0] not in builders:
        raise SystemExit("usage: gpugate_build.py wheel|sdist FOLDER")
    folder = Path(arguments[1])
    folder.mkdir(parents=True, exist_ok=True)
    print(folder / builders[arguments[0]](folder))


if __name__ == "__main__":
    main(sys.argv[1:])
