"""An image as the Open Container Initiative lays it out, of the same bytes for
the same content: sorted, owned by root, at one time."""

import datetime
import gzip
import hashlib
import io
import json
import os
import tarfile

_MEDIA = "application/vnd.oci.image."
# The annotation that names an image of a layout.
_NAME = "org.opencontainers.image.ref.name"


class Layer:
    """What a layer holds: files, links and folders by their path without a
    slash in front. Folders above are added."""

    def __init__(self):
        self._entries = {}

    def add_bytes(self, path, data, mode=0o644):
        self._add(path, mode, data=data)

    def add_file(self, path, source, mode=None):
        """A file of this machine: its content and, unless given, its mode."""
        if mode is None:
            mode = os.stat(source).st_mode & 0o777
        self._add(path, mode, source=source)

    def add_link(self, path, target):
        self._add(path, 0o777, target=target)

    def add_folder(self, path, mode=0o755):
        self._add(path, mode)

    def _add(self, path, mode, **what):
        above = os.path.dirname(path)
        if above and above not in self._entries:
            self.add_folder(above)
        self._entries[path] = dict(what, mode=mode)

    def paths(self):
        return sorted(self._entries)

    def write(self, file, moment):
        """Writes a tar archive, all of `moment`, seconds since 1970."""
        with tarfile.open(fileobj=file, mode="w",
                          format=tarfile.PAX_FORMAT) as archive:
            for path in self.paths():
                self._write_entry(archive, path, moment)

    def _write_entry(self, archive, path, moment):
        entry = self._entries[path]
        info = tarfile.TarInfo(path)
        info.mode = entry["mode"]
        info.mtime = moment
        if "target" in entry:
            info.type = tarfile.SYMTYPE
            info.linkname = entry["target"]
            archive.addfile(info)
        elif "data" in entry:
            info.size = len(entry["data"])
            archive.addfile(info, io.BytesIO(entry["data"]))
        elif "source" in entry:
            info.size = os.path.getsize(entry["source"])
            with open(entry["source"], "rb") as source:
                archive.addfile(info, source)
        else:
            info.type = tarfile.DIRTYPE
            archive.addfile(info)


class _Hashed:
    """A file that is written, and its digest and size."""

    def __init__(self, file):
        self._file = file
        self._digest = hashlib.sha256()
        self.size = 0

    def write(self, data):
        self._digest.update(data)
        self.size += len(data)
        return self._file.write(data) if self._file else len(data)

    def flush(self):
        pass

    def name(self):
        return "sha256:" + self._digest.hexdigest()


class Layout:
    """A folder with images (image-layout of the OCI)."""

    def __init__(self, folder):
        self._folder = folder
        self._blobs = os.path.join(folder, "blobs", "sha256")
        os.makedirs(self._blobs)
        self._manifests = []

    def add_image(self, image, layers, moment):
        """Adds an image of layers: `image` has its name, `title`, `entrypoint`,
        `command`, `user` and `ports`. The digest of its manifest."""
        blobs = [self._add_layer(layer, moment) for layer in layers]
        created = _text_of(moment)
        config = {
            "architecture": "amd64",
            "os": "linux",
            "created": created,
            "config": {
                "User": image["user"],
                "Entrypoint": image["entrypoint"],
                "Cmd": image["command"],
                "Env": ["PATH=/opt/ordo/bin:/usr/bin"],
                "WorkingDir": "/",
                "ExposedPorts": {"%d/tcp" % port: {}
                                 for port in image["ports"]},
                "Labels": {"org.opencontainers.image.title": image["title"]},
                "StopSignal": "SIGTERM",
            },
            "rootfs": {"type": "layers",
                       "diff_ids": [plain for plain, _ in blobs]},
            "history": [{"created": created, "created_by": "tools/images"}
                        for _ in blobs],
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": _MEDIA + "manifest.v1+json",
            "config": self._add_json(config, "config.v1+json"),
            "layers": [descriptor for _, descriptor in blobs],
            "annotations": {"org.opencontainers.image.created": created},
        }
        descriptor = self._add_json(manifest, "manifest.v1+json")
        descriptor["annotations"] = {_NAME: image["name"]}
        self._manifests.append(descriptor)
        return descriptor["digest"]

    def finish(self):
        for name, value in (
                ("oci-layout", {"imageLayoutVersion": "1.0.0"}),
                ("index.json", {"schemaVersion": 2,
                                "mediaType": _MEDIA + "index.v1+json",
                                "manifests": self._manifests})):
            with open(os.path.join(self._folder, name), "wb") as file:
                file.write(_json(value))

    def _add_layer(self, layer, moment):
        """(digest of the archive, descriptor of the compressed one)."""
        aside = os.path.join(self._blobs, "part")
        with open(aside, "wb") as file:
            packed = _Hashed(file)
            with gzip.GzipFile(filename="", mode="wb", compresslevel=6,
                               fileobj=packed, mtime=0) as compressed:
                plain = _Hashed(compressed)
                layer.write(_Stream(plain), moment)
        return plain.name(), self._keep(aside, packed, "layer.v1.tar+gzip")

    def _add_json(self, value, media):
        aside = os.path.join(self._blobs, "part")
        with open(aside, "wb") as file:
            hashed = _Hashed(file)
            hashed.write(_json(value))
        return self._keep(aside, hashed, media)

    def _keep(self, aside, hashed, media):
        os.replace(aside, os.path.join(self._blobs,
                                       hashed.name().partition(":")[2]))
        return {"mediaType": _MEDIA + media, "digest": hashed.name(),
                "size": hashed.size}


class _Stream:
    """What tarfile writes to: it asks where it is, and never goes back."""

    def __init__(self, hashed):
        self._hashed = hashed

    def write(self, data):
        return self._hashed.write(data)

    def tell(self):
        return self._hashed.size


def _json(value):
    return json.dumps(value, sort_keys=True,
                      separators=(",", ":")).encode("utf-8")


def _text_of(moment):
    return datetime.datetime.fromtimestamp(
        moment, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _blob(folder, digest):
    return os.path.join(folder, "blobs", *digest.split(":"))


def _read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def sizes(folder, digest):
    """Bytes of the layers of an image, by the digest of its manifest: packed,
    and as files."""
    layers = _read(_blob(folder, digest))["layers"]
    plain = 0
    for layer in layers:
        with tarfile.open(_blob(folder, layer["digest"]), "r:gz") as archive:
            plain += sum(member.size for member in archive)
    return sum(layer["size"] for layer in layers), plain


def unpack(folder, name, root):
    """The file system of an image of a layout, into the new folder `root`; its
    configuration."""
    for descriptor in _read(os.path.join(folder, "index.json"))["manifests"]:
        if descriptor["annotations"][_NAME] == name:
            manifest = _read(_blob(folder, descriptor["digest"]))
            for layer in manifest["layers"]:
                with tarfile.open(_blob(folder, layer["digest"]),
                                  "r:gz") as archive:
                    archive.extractall(root)
            return _read(_blob(folder, manifest["config"]["digest"]))["config"]
    raise KeyError("no image %s in %s" % (name, folder))
