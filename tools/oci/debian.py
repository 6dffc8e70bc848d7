"""Which files of this machine programs need, and whose they are."""

import glob
import os
import re
import subprocess

LIBRARY_FOLDER = "usr/lib/x86_64-linux-gnu"
# Of the driver of the node, which puts them into the container.
_DRIVER = ("libcuda.so.1", "libnvidia-ml.so.1")


class Missing(Exception):
    """What a person has to mend."""


def libraries(programs):
    """{name: path} of the shared libraries that programs load at their start,
    those of libraries among them and those of GPUs' drivers not."""
    found = {}
    for program in programs:
        said = subprocess.run(["ldd", program], check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if said.returncode != 0 and not re.search(
                "not a dynamic executable|statically linked", said.stdout):
            raise Missing("ldd %s: %s" % (program, said.stdout))
        for line in said.stdout.splitlines():
            if line.split()[:1] and line.split()[0] in _DRIVER:
                continue
            if "not found" in line:
                raise Missing("%s: %s" % (program, line.strip()))
            match = re.match(r"\s*(?:(\S+) => )?(/\S+) \(0x", line)
            if match:
                found[match[1] or os.path.basename(match[2])] = match[2]
    return found


def beside(paths, pattern):
    """{name: path} of the files of a pattern in the folders of libraries, one
    at least."""
    found = {os.path.basename(path): path
             for folder in sorted({os.path.dirname(path) for path in paths})
             for path in glob.glob(os.path.join(folder, pattern))}
    if not found:
        raise Missing("no %s beside the libraries that are linked" % pattern)
    return found


def _spellings(path):
    """A file's names from before and after Debian's folders became one."""
    real = os.path.realpath(path)
    return {real, real[len("/usr"):] if real.startswith("/usr/") else real}


def owners(paths):
    """{path: package} of those that a Debian package brings."""
    spellings = {spelling: path for path in paths
                 for spelling in _spellings(path)}
    if not spellings:
        return {}
    said = subprocess.run(["dpkg", "-S", *sorted(spellings)], check=False,
                          text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout
    found = {}
    for line in said.splitlines():
        package, _, path = line.partition(": ")
        if path in spellings:
            found[spellings[path]] = package.split(":")[0].split(",")[0]
    return found


def describe(package):
    """What dpkg knows of a package that is installed, by field."""
    said = subprocess.run(["dpkg", "-s", package], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if said.returncode != 0 or "ok installed" not in said.stdout:
        raise Missing("the package %s is not installed" % package)
    fields = {}
    for line in said.stdout.splitlines():
        name, colon, value = line.partition(": ")
        if colon and not line.startswith(" "):
            fields[name] = value
    return fields


def files_of(package):
    """The files and links of an installed package, but its documents."""
    describe(package)
    said = subprocess.run(["dpkg", "-L", package], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    return [path for path in said.splitlines()
            if (os.path.islink(path) or os.path.isfile(path)) and
            not path.startswith(("/usr/share/doc/", "/usr/share/man/"))]


def licence_of(package):
    """The path of its licence, or None."""
    path = "/usr/share/doc/%s/copyright" % package
    return path if os.path.exists(path) else None
