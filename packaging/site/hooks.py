# SPDX-License-Identifier: BSD-2-Clause
"""What mkdocs calls while it builds the site: pictures beside their text, an index that needs no server."""
import json
import pathlib
import re

PICTURE = re.compile(r"<p>(<img [^>]*?>)</p>")
ALT = re.compile(r'alt="([^"]*)"')
TABLE = re.compile(r"(<table>.*?</table>)", re.S)


def _pictured(section):
    """A section with one picture: the text, and the picture at its side."""
    found = PICTURE.findall(section)
    if len(found) != 1:
        return section
    text = PICTURE.sub("", section)
    caption = ALT.search(found[0])
    figure = f"<figure>{found[0]}<figcaption>{caption[1] if caption else ''}</figcaption></figure>"
    return f'<section class="pictured"><div>{text}</div>{figure}</section>'


def on_page_content(html, **_):
    """Sections that have a picture show it beside their text; wide tables scroll by themselves."""
    first, *sections = re.split(r"(?=<h2)", html)
    html = "".join([first, *map(_pictured, sections)])
    return TABLE.sub(r'<div class="scroll" tabindex="0">\1</div>', html)


def on_post_build(config, **_):
    """The index of the search as a script: a page from a disk may load that, and no other file."""
    folder = pathlib.Path(config["site_dir"]) / "search"
    index = json.loads((folder / "search_index.json").read_text(encoding="utf-8"))
    docs = [[d["location"], d["title"], d["text"]] for d in index["docs"]]
    (folder / "index.js").write_text(f"site_search.index({json.dumps(docs)});\n", encoding="utf-8")
    for path in folder.iterdir():
        if path.name != "index.js":
            path.unlink()
