"""Layers and layouts are of the same bytes for the same content."""

import io
import json
import os
import tarfile
import tempfile
import unittest

from tools.oci import layout

_IMAGE = {"name": "small", "title": "A small one", "entrypoint": ["/bin/a"],
          "command": ["--b"], "user": "7:7", "ports": [80]}


def _layer(order=1):
    layer = layout.Layer()
    for add in [
            lambda: layer.add_bytes("opt/b/text", b"some text", 0o600),
            lambda: layer.add_link("opt/a", "b/text"),
            lambda: layer.add_folder("tmp", 0o1777),
    ][::order]:
        add()
    return layer


def _bytes(layer):
    file = io.BytesIO()
    layer.write(file, 12)
    return file.getvalue()


class LayoutTest(unittest.TestCase):

    def test_what_is_added_in_another_order_is_the_same(self):
        self.assertEqual(_bytes(_layer(1)), _bytes(_layer(-1)))

    def test_entries_are_of_root_and_of_one_time(self):
        with tarfile.open(fileobj=io.BytesIO(_bytes(_layer()))) as archive:
            members = {member.name: member for member in archive}
        self.assertEqual(sorted(members),
                         ["opt", "opt/a", "opt/b", "opt/b/text", "tmp"])
        for member in members.values():
            self.assertEqual((member.uid, member.gid, member.mtime), (0, 0, 12))
        self.assertEqual(members["opt/b/text"].mode, 0o600)
        self.assertEqual(members["opt/a"].linkname, "b/text")
        self.assertEqual(members["tmp"].mode, 0o1777)

    def test_a_file_has_its_content_and_mode(self):
        with tempfile.NamedTemporaryFile() as source:
            source.write(b"x" * 100)
            source.flush()
            layer = layout.Layer()
            layer.add_file("program", source.name, 0o755)
            with tarfile.open(fileobj=io.BytesIO(_bytes(layer))) as archive:
                member = archive.getmember("program")
                self.assertEqual((member.size, member.mode), (100, 0o755))

    def test_an_image_is_read_as_it_was_written(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = os.path.join(scratch, "out")
            written = layout.Layout(folder)
            digest = written.add_image(_IMAGE, [_layer()], 12)
            written.finish()
            self.assertEqual(sorted(os.listdir(folder)),
                             ["blobs", "index.json", "oci-layout"])
            # A layer, a configuration and a manifest.
            self.assertEqual(
                len(os.listdir(os.path.join(folder, "blobs", "sha256"))), 3)
            with open(os.path.join(folder, "index.json"),
                      encoding="utf-8") as file:
                (manifest,) = json.load(file)["manifests"]
            self.assertEqual(manifest["digest"], digest)
            packed, plain = layout.sizes(folder, digest)
            self.assertGreater(packed, 0)
            self.assertEqual(plain, len(b"some text"))
            root = os.path.join(scratch, "root")
            config = layout.unpack(folder, "small", root)
            self.assertEqual(config["User"], "7:7")
            self.assertEqual(config["Entrypoint"], ["/bin/a"])
            self.assertEqual(config["ExposedPorts"], {"80/tcp": {}})
            self.assertEqual(os.readlink(os.path.join(root, "opt", "a")),
                             "b/text")
            self.assertRaises(KeyError, layout.unpack, folder, "large", root)


if __name__ == "__main__":
    unittest.main()
