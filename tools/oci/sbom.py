"""What an image is made of, as SPDX 2.3."""

import datetime
import hashlib
import json
import re


def _id(*parts):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", "-".join(parts))


def _package(kind, name, version, **more):
    return dict({
        "SPDXID": _id(kind, name),
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
    }, **more)


def _purl(locator):
    return {"externalRefs": [{"referenceCategory": "PACKAGE-MANAGER",
                              "referenceType": "purl",
                              "referenceLocator": locator}]}


def document(image, parts, moment):
    """The text of an image's document. `parts` has `programs`, {path: digest};
    `debian`, {package: dpkg's fields}; `wheels`, {name: (version, digest)}."""
    programs = json.dumps(parts["programs"], sort_keys=True).encode()
    own = _package("Image", image, hashlib.sha256(programs).hexdigest()[:12],
                   primaryPackagePurpose="CONTAINER")
    packages = [own]
    for path, digest in sorted(parts["programs"].items()):
        packages.append(_package(
            "Program", path.rpartition("/")[2], digest[:12],
            packageFileName=path,
            primaryPackagePurpose="APPLICATION",
            checksums=[{"algorithm": "SHA256", "checksumValue": digest}]))
    for name, fields in sorted(parts["debian"].items()):
        source = fields.get("Source", name).split(" ")[0]
        packages.append(_package(
            "Debian", name, fields["Version"], supplier="Organization: Debian",
            sourceInfo="built from the source package " + source,
            **_purl("pkg:deb/debian/%s@%s?arch=%s&distro=bookworm" % (
                name, fields["Version"].replace("+", "%2B").replace(":", "%3A"),
                fields["Architecture"]))))
    for name, (version, digest) in sorted(parts["wheels"].items()):
        packages.append(_package(
            "Wheel", name, version,
            checksums=[{"algorithm": "SHA256", "checksumValue": digest}],
            **_purl("pkg:pypi/%s@%s" % (name, version))))
    body = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": image,
        "creationInfo": {
            "created": datetime.datetime.fromtimestamp(
                moment, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Tool: tools/images"],
        },
        "packages": packages,
        "relationships": [{
            "spdxElementId": "SPDXRef-DOCUMENT",
            "relationshipType": "DESCRIBES",
            "relatedSpdxElement": own["SPDXID"],
        }] + [{
            "spdxElementId": own["SPDXID"],
            "relationshipType": "CONTAINS",
            "relatedSpdxElement": package["SPDXID"],
        } for package in packages[1:]],
    }
    digest = hashlib.sha256(
        json.dumps(body, sort_keys=True).encode()).hexdigest()
    # A name that nobody else gives, and the same for the same content.
    body["documentNamespace"] = "https://ordo.invalid/spdx/%s-%s" % (image,
                                                                     digest)
    return json.dumps(body, indent=1, sort_keys=True) + "\n"
