# SPDX-License-Identifier: Apache-2.0
"""Write bills of materials of one program, as SPDX 2.3 and as CycloneDX 1.5,
to $RELEASE_DIR: the program and the Debian packages of its libraries.

usage: sbom.py PROGRAM SYSTEM static|dynamic PACKAGE=VERSION...
"""

import datetime
import hashlib
import json
import os
import sys
from pathlib import Path
from urllib.parse import quote

VERSION = os.environ["VERSION"]
URL = os.environ["RELEASE_URL"]


def created():
    time = datetime.datetime.fromtimestamp(
        int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def purl(package, version):
    return f"pkg:deb/debian/{quote(package)}@{quote(version, safe='')}"


def spdx_package(identifier, name, version, supplier, license, reference):
    return {
        "SPDXID": identifier,
        "name": name,
        "versionInfo": version,
        "supplier": supplier,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": license,
        "licenseDeclared": license,
        "copyrightText": "NOASSERTION",
        "externalRefs": [{
            "referenceCategory": "PACKAGE-MANAGER",
            "referenceType": "purl",
            "referenceLocator": reference,
        }],
    }


def spdx(program, system, link, packages):
    own = "SPDXRef-program"
    digest = hashlib.sha256(repr((program, system, packages)).encode())
    documents = [spdx_package(own, program, VERSION,
                              "Organization: gpugate", "Apache-2.0",
                              f"pkg:generic/{program}@{VERSION}")]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", own)]
    for i, (package, version) in enumerate(packages):
        identifier = f"SPDXRef-package-{i}"
        documents.append(spdx_package(
            identifier, package, version, "Organization: Debian",
            "NOASSERTION", purl(package, version)))
        relations.append((own, f"{link.upper()}_LINK", identifier))
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{program}-{VERSION}-{system}",
        "documentNamespace":
            f"{URL}/spdx/{program}-{VERSION}-{system}-{digest.hexdigest()}",
        "creationInfo": {"created": created(),
                         "creators": ["Organization: gpugate"]},
        "packages": documents,
        "relationships": [
            {"spdxElementId": a, "relationshipType": kind,
             "relatedSpdxElement": b} for a, kind, b in relations
        ],
    }


def cyclonedx(program, packages):
    reference = f"pkg:generic/{program}@{VERSION}"
    components = [
        {"type": "library", "bom-ref": purl(package, version),
         "name": package, "version": version,
         "purl": purl(package, version)} for package, version in packages
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": created(),
            "component": {
                "type": "application", "bom-ref": reference,
                "name": program, "version": VERSION, "purl": reference,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            },
        },
        "components": components,
        "dependencies": [{
            "ref": reference,
            "dependsOn": [component["bom-ref"] for component in components],
        }] + [{"ref": component["bom-ref"]} for component in components],
    }


def main(program, system, link, *packages):
    packages = sorted(set(tuple(item.split("=", 1)) for item in packages))
    stem = f"{program}-{VERSION}-{system}"
    folder = Path(os.environ["RELEASE_DIR"])
    for ending, document in (
            ("spdx", spdx(program, system, link, packages)),
            ("cdx", cyclonedx(program, packages))):
        (folder / f"{stem}.{ending}.json").write_text(
            json.dumps(document, indent=1) + "\n", encoding="utf-8")


main(*sys.argv[1:])
