"""Hook of mkdocs.yml: which pages the site has, where, and what links mean.

Pages are files of docs/ and those that `extra.pages` names. Links are written
as they are right in the repository; here they are made right in the site.
"""

import fnmatch
import os
import posixpath
import re

_LINK = re.compile(r"\[([^\[\]]*)\]\(([^()#:\s]+)(#[^()\s]*)?\)")


class SiteError(Exception):
    """Something in the pages or in mkdocs.yml must change."""


def split_text(text, pages):
    """Parts of a file by the page that has them.

    `pages` are (name, heading or None, title or None): without a heading the
    part is the file's beginning, up to the next that has one. A title stands
    above its part.
    """
    starts = {}
    for name, heading, _ in pages:
        line = "## %s\n" % heading
        if heading is not None and "\n" + line not in text:
            raise SiteError("%s: no heading '%s'" % (name, heading))
        starts[name] = 0 if heading is None else text.index("\n" + line) + 1
    ends = sorted(starts.values()) + [len(text)]
    parts = {}
    for name, _, title in pages:
        end = ends[ends.index(starts[name]) + 1]
        part = text[starts[name]:end]
        parts[name] = part if title is None else "# %s\n\n%s" % (title, part)
    return parts


def _named(nav):
    """All strings of `nav` that are paths or patterns."""
    for entry in nav:
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, dict):
            for value in entry.values():
                yield from _named([value] if isinstance(value, str) else value)


def expand(nav, pages):
    """`nav` with the pages of `pages` in the place of its patterns.

    A page goes to the first pattern that fits it, unless it is named. Sections
    without a page are left out. SiteError for a name without a page, and a page
    without a place.
    """
    left = set(pages)
    for name in _named(nav):
        if "*" in name:
            continue
        if name not in left:
            raise SiteError("mkdocs.yml: nav names %s %s" % (
                name, "twice" if name in pages else "which is not there"))
        left.remove(name)

    def pattern(text):
        folder, names = posixpath.split(text)
        found = sorted(page for page in left
                       if posixpath.dirname(page) == folder and
                       fnmatch.fnmatch(posixpath.basename(page), names))
        left.difference_update(found)
        return found

    def walk(entries):
        result = []
        for entry in entries:
            if isinstance(entry, dict):
                title, value = next(iter(entry.items()))
                value = value if isinstance(value, str) else walk(value)
                if value:
                    result.append({title: value})
            elif "*" in entry:
                result.extend(pattern(entry))
            else:
                result.append(entry)
        return result

    expanded = walk(nav)
    if left:
        raise SiteError("mkdocs.yml: nav has no place for " +
                        ", ".join(sorted(left)))
    return expanded


def fit_links(text, page, source, sites):
    """The text of a page with links that hold in the site.

    Args:
      text: Markdown.
      page: the page's path in the site.
      source: its file, by its path in the repository.
      sites: path in the site by path in the repository, of all that the site
        has. Other files of the repository are shown as their path; whether they
        are there tools/tidy checks.
    """

    def replace(match):
        label, link, anchor = match.groups()
        target = posixpath.normpath(
            posixpath.join(posixpath.dirname(source), link))
        site = sites.get(target)
        if site is None and target.startswith("docs/"):
            raise SiteError("%s: link to %s, which is not there" %
                            (source, link))
        if site is None:
            return "%s (`%s`)" % (label, target)
        return "[%s](%s%s)" % (
            label, posixpath.relpath(site, posixpath.dirname(page) or "."),
            anchor or "")

    return _LINK.sub(replace, text)


class _Site:
    """What the events of one build share."""

    def __init__(self):
        self.root = ""
        self.texts = {}  # Of made pages, by path in the site.
        self.sources = {}  # Path in the repository by path in the site.


_site = _Site()


def _read(path):
    with open(os.path.join(_site.root, path), encoding="utf-8") as file:
        return file.read()


def on_files(files, config):
    # Here, for the rest is tested where MkDocs is not installed.
    from mkdocs.structure.files import File

    _site.root = os.path.dirname(os.path.abspath(config["config_file_path"]))
    for file in [file for file in files
                 if posixpath.basename(file.src_uri) == "BUILD.bazel"]:
        files.remove(file)
    _site.sources = {file.src_uri: "docs/" + file.src_uri for file in files
                     if os.path.exists(os.path.join(
                         _site.root, "docs", file.src_uri))}
    made = config["extra"]["pages"]
    _site.texts = {}
    for source in sorted({about["file"] for about in made.values()}):
        _site.texts.update(split_text(_read(source), [
            (name, about.get("from"), about.get("title"))
            for name, about in made.items() if about["file"] == source]))
    for name in made:
        files.append(File(name, config["docs_dir"], config["site_dir"],
                          config["use_directory_urls"]))
    config["nav"] = expand(
        config["nav"], {file.src_uri for file in files.documentation_pages()})
    _site.sources.update({name: about["file"] for name, about in made.items()})
    return files


def on_page_read_source(page, config):
    del config
    return _site.texts.get(page.file.src_uri)


def on_page_markdown(markdown, page, config, files):
    del config, files
    sites = {}
    # Of a file that is several pages the first has its name.
    for site, source in reversed(list(_site.sources.items())):
        sites[source] = site
    name = page.file.src_uri
    return fit_links(markdown, name, _site.sources[name], sites)
