"""The bill of materials is SPDX, complete, and the same for the same parts."""

import json
import unittest

from tools.oci import sbom

_PARTS = {
    "programs": {"/opt/ordo/bin/ordo": "ab" * 32,
                 "/opt/ordo/bin/ordo-x": "ef" * 32},
    "debian": {"libc6": {"Package": "libc6", "Version": "2.36-9+deb12u1",
                         "Architecture": "amd64", "Source": "glibc"},
               "libgrpc++1.51": {"Package": "libgrpc++1.51",
                                 "Version": "1.51.1-3",
                                 "Architecture": "amd64",
                                 "Source": "grpc (1.51.1-3)"}},
    "wheels": {"torch": ("2.11.0", "cd" * 32)},
}


class SbomTest(unittest.TestCase):

    def setUp(self):
        self.text = sbom.document("ordo-x", _PARTS, 1_790_000_000)
        self.bill = json.loads(self.text)
        # The image comes first, and one of its programs is called like it.
        self.image, *rest = self.bill["packages"]
        self.packages = {each["name"]: each for each in rest}

    def test_all_parts_are_in_it(self):
        self.assertEqual(self.image["name"], "ordo-x")
        self.assertEqual(set(self.packages), {"ordo-x", "ordo", "libc6",
                                              "libgrpc++1.51", "torch"})
        self.assertEqual(
            self.packages["libc6"]["externalRefs"][0]["referenceLocator"],
            "pkg:deb/debian/libc6@2.36-9%2Bdeb12u1?arch=amd64&distro=bookworm")
        self.assertEqual(self.packages["libgrpc++1.51"]["sourceInfo"],
                         "built from the source package grpc")
        self.assertEqual(
            self.packages["torch"]["checksums"],
            [{"algorithm": "SHA256", "checksumValue": "cd" * 32}])
        self.assertEqual(self.packages["ordo"]["packageFileName"],
                         "/opt/ordo/bin/ordo")

    def test_the_document_describes_the_image_that_contains_the_rest(self):
        relations = self.bill["relationships"]
        self.assertEqual(relations[0]["relationshipType"], "DESCRIBES")
        self.assertEqual(relations[0]["relatedSpdxElement"],
                         self.image["SPDXID"])
        self.assertEqual(
            {each["relatedSpdxElement"] for each in relations[1:]},
            {each["SPDXID"] for each in self.packages.values()})
        self.assertEqual(
            len({each["SPDXID"] for each in self.bill["packages"]}), 6)

    def test_it_is_of_a_known_time_and_name(self):
        self.assertEqual(self.bill["creationInfo"]["created"],
                         "2026-09-21T14:13:20Z")
        self.assertEqual(self.text,
                         sbom.document("ordo-x", _PARTS, 1_790_000_000))
        other = json.loads(sbom.document("ordo-x", _PARTS, 1))
        self.assertNotEqual(self.bill["documentNamespace"],
                            other["documentNamespace"])


if __name__ == "__main__":
    unittest.main()
