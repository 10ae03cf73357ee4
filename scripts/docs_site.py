#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs_site.py --bin=DIR... --out=DIR [--native=FILE]: builds the site of docs/ and checks its links.

Stages docs/pages and the references that docs_reference.py makes from the sources into OUT/src, builds OUT/site with
MkDocs and the theme Material, and then follows every link of the site (pages, files, anchors) and of the project's
Markdown files (files). Links that lead out of the site are not followed. Exit status 1 where one leads nowhere.
"""
import argparse
import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What the runner of transcripts wants to know, and a reader does not.
RUNNER_WORDS = re.compile(r'^(```\w+)( fails)?( needs="[^"]*")?$', re.MULTILINE)


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.names = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        for key in ("id", "name"):
            if values.get(key):
                self.names.add(values[key])
        for key in ("href", "src"):
            if values.get(key):
                self.links.append(values[key])


def is_outside(link):
    return re.match(r"[a-z]+:|//", link) is not None


def broken_links_of_site(site):
    pages = {path: Page(path.read_text()) for path in site.rglob("*.html") if path.name != "404.html"}
    for path, page in sorted(pages.items()):
        for link in page.links:
            if is_outside(link):
                continue
            target, _, anchor = link.partition("#")
            there = path if not target else (path.parent / urllib.parse.unquote(target.split("?")[0])).resolve()
            if there.is_dir():
                there /= "index.html"
            if not there.exists():
                yield f"{path.relative_to(site)}: '{link}' leads nowhere"
            elif anchor and there in pages and urllib.parse.unquote(anchor) not in pages[there].names:
                yield f"{path.relative_to(site)}: '{link}' names no part of the page"


def broken_links_of_project():
    names = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    names = names or [path.relative_to(ROOT).as_posix() for path in ROOT.glob("*.md")]
    for name in names:
        if name.startswith("docs/pages/"):
            continue  # the site's, with pages that are made
        text = re.sub(r"```.*?```|`[^`]*`", "", (ROOT / name).read_text(), flags=re.DOTALL)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            target = link.split("#")[0]
            if target and not is_outside(link) and not ((ROOT / name).parent / target).exists():
                yield f"{name}: '{link}' leads nowhere"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, action="append")
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--native", help="the extension of the Python package")
    arguments = parser.parse_args()
    out = arguments.out.resolve()
    source, site = out / "src", out / "site"
    shutil.rmtree(source, ignore_errors=True)
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(ROOT / "docs/pages", source)
    for path in source.rglob("*.md"):
        path.write_text(RUNNER_WORDS.sub(r"\1", path.read_text()))
    status = subprocess.run([sys.executable, ROOT / "scripts/docs_reference.py", f"--out={source / 'reference'}",
                             *([f"--native={arguments.native}"] if arguments.native else []),
                             *(f"--bin={folder}" for folder in arguments.bin)]).returncode
    shutil.copy(ROOT / "docs/mkdocs.yml", out / "mkdocs.yml")
    with (out / "mkdocs.yml").open("a") as file:
        file.write(f"docs_dir: {source}\nsite_dir: {site}\n")
    built = subprocess.run(["mkdocs", "build", "--quiet", "--strict", "-f", out / "mkdocs.yml"])
    if built.returncode:
        return 1
    broken = [*broken_links_of_site(site), *broken_links_of_project()]
    for line in broken:
        print(f"docs_site: error: {line}")
    print(f"docs_site: {len(list(site.rglob('*.html')))} pages in {site}, {len(broken)} broken links")
    return 1 if broken or status else 0


if __name__ == "__main__":
    sys.exit(main())
