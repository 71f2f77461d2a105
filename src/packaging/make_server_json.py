#!/usr/bin/env python3
"""Writes the entry for the registry of MCP servers: what the server is, and where its bundle is.

    make_server_json.py --bundle FILE --version V --description TEXT --repository URL --out FILE

URL is https://github.com/OWNER/NAME or https://gitlab.com/OWNER/NAME; the bundle is expected among
the files of its release vVERSION. Standard library only."""

import argparse
import hashlib
import json
import pathlib
import re

SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
DESCRIPTION_CHARS_MAX = 100  # the registry's limit
RELEASES = {"github": "{url}/releases/download/v{version}/{file}",
            "gitlab": "{url}/-/releases/v{version}/downloads/{file}"}


def entry(given):
    match = re.fullmatch(r"https://(github|gitlab)\.com/([\w.-]+)/([\w.-]+?)/?", given.repository)
    if not match:
        raise SystemExit(
            f"make_server_json: \"{given.repository}\" is not where releases can be: configure with "
            "-DJARVIS_REPOSITORY_URL=https://github.com/OWNER/NAME (or gitlab.com)")
    if len(given.description) > DESCRIPTION_CHARS_MAX:
        raise SystemExit("make_server_json: the description is too long for the registry")
    source, owner, name = match.groups()
    url = f"https://{source}.com/{owner}/{name}"
    bundle = pathlib.Path(given.bundle)
    return {
        "$schema": SCHEMA,
        "name": f"io.{source}.{owner}/jarvis",
        "title": "JARVIS",
        "description": given.description,
        "repository": {"url": url, "source": source},
        "version": given.version,
        "packages": [{
            "registryType": "mcpb",
            "identifier": RELEASES[source].format(url=url, version=given.version, file=bundle.name),
            "fileSha256": hashlib.sha256(bundle.read_bytes()).hexdigest(),
            "transport": {"type": "stdio"}}]}


def main():
    parser = argparse.ArgumentParser()
    for name in ("bundle", "version", "description", "repository", "out"):
        parser.add_argument("--" + name, required=True)
    given = parser.parse_args()
    pathlib.Path(given.out).write_text(json.dumps(entry(given), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
