#!/usr/bin/env python3
"""Packs the program and the libraries it needs into a bundle for hosts such as Claude Desktop.

    make_mcpb.py --program PROGRAM --version V --description TEXT --licence FILE --out FILE

PROGRAM looks for libraries in ../lib beside itself. All that it loads goes there, but for the C
library, which belongs to the loader of the machine it runs on; each with the licence of the
package it comes from. The same program and libraries give the same bytes. Standard library only."""

import argparse
import json
import pathlib
import re
import stat
import subprocess
import zipfile

# Of the C library: they must fit the loader, so they are the machine's own.
SYSTEM = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|resolv)\.so\.\d+|linux-vdso.*)$")
ZIP_TIME = (1980, 1, 1, 0, 0, 0)
COMMON_LICENCES = pathlib.Path("/usr/share/common-licenses")
DESCRIPTION_CHARS = 300  # of a tool; the whole text is the server's to tell


def run(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True,
                          timeout=120).stdout


def libraries(program):
    """Name and path of each library to carry."""
    found = {}
    for line in run("ldd", program).splitlines():
        match = re.match(r"\s*(\S+) => (\S+)", line)
        if not match or SYSTEM.match(pathlib.Path(match[1]).name):
            continue
        if match[2] == "not":
            raise SystemExit(f"make_mcpb: {match[1]} is not there")
        found[match[1]] = pathlib.Path(match[2]).resolve()
    return found


def common_licences(text):
    """Those that a licence text only points to."""
    names = set(re.findall(re.escape(str(COMMON_LICENCES)) + r"/([\w.-]*\w)", text.decode()))
    return {f"{name}.txt": (COMMON_LICENCES / name).read_bytes() for name in names}


def licence_of(library):
    """The package that a library comes from, and its licences."""
    for path in (library, pathlib.Path("/", *library.parts[2:])):  # /usr/lib was once /lib
        ran = subprocess.run(["dpkg", "-S", str(path)], capture_output=True, text=True, check=False)
        if ran.returncode == 0:
            package = ran.stdout.split(":")[0]
            text = pathlib.Path("/usr/share/doc", package, "copyright")
            if text.exists():
                return package, text.read_bytes()
    raise SystemExit(f"make_mcpb: no licence text for {library}; it must not be given away without")


def glibc_needed(files):
    """The oldest C library that has all the symbols these files ask for."""
    versions = set()
    for file in files:
        versions.update(re.findall(r"GLIBC_(\d+)\.(\d+)", run("readelf", "-V", "-W", str(file))))
    return "%d.%d" % max((int(major), int(minor)) for major, minor in versions)


def tools_of(program):
    listed = run(program, "serve",
                 text='{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n')
    tools = []
    for tool in json.loads(listed)["result"]["tools"]:
        text = tool["description"]
        if len(text) > DESCRIPTION_CHARS:
            text = text[:DESCRIPTION_CHARS].rsplit(" ", 1)[0] + " ..."
        tools.append({"name": tool["name"], "description": text})
    return tools


def server_part(program):
    """How the host starts the program, and what it asks its user for."""
    arguments, user_config = ["serve"], {}
    # A host puts the directories in as one argument each.
    if "--allow-root" in run(program, "serve", "--help"):
        arguments += ["--allow-root", "${user_config.directories}"]
        user_config = {"directories": {
            "type": "directory", "title": "Trace directories", "multiple": True, "required": True,
            "description": "Traces are read, and tables written, below these directories only.",
            "default": ["${HOME}"]}}
    return {"type": "binary", "entry_point": "server/bin/jarvis", "mcp_config": {
        "command": "${__dirname}/server/bin/jarvis", "args": arguments, "env": {}}}, user_config


def manifest(given, files):
    server, user_config = server_part(given.program)
    made = {
        "manifest_version": "0.3", "name": "jarvis", "display_name": "JARVIS",
        "version": given.version, "description": given.description + ".",
        "long_description": "Loads PyTorch profiler traces, says where the GPU's time went, traces "
                            "an operation back to the line that called it, and how far each is "
                            "from the hardware's limit. Runs on this machine; needs Linux with "
                            f"the GNU C library {glibc_needed(files)} or newer.",
        "author": {"name": "The JARVIS authors"}, "license": "MIT",
        "keywords": ["pytorch", "profiler", "gpu", "performance", "trace"],
        "server": server, "tools": tools_of(given.program),
        "compatibility": {"platforms": ["linux"]}}
    if user_config:
        made["user_config"] = user_config
    return json.dumps(made, indent=2, ensure_ascii=False).encode() + b"\n"


def contents(given):
    """Bytes and whether they are a program, by name in the bundle."""
    carried = libraries(given.program)
    files = {"server/bin/jarvis": (pathlib.Path(given.program).read_bytes(), True),
             "LICENSE": (pathlib.Path(given.licence).read_bytes(), False)}
    for name, path in carried.items():
        files["server/lib/" + name] = (path.read_bytes(), False)
        package, text = licence_of(path)
        for file, licence in {f"{package}.txt": text, **common_licences(text)}.items():
            files["server/licences/" + file] = (licence, False)
    files["manifest.json"] = (manifest(given, [given.program, *carried.values()]), False)
    return files


def main():
    parser = argparse.ArgumentParser()
    for name in ("program", "version", "description", "licence", "out"):
        parser.add_argument("--" + name, required=True)
    given = parser.parse_args()
    with zipfile.ZipFile(given.out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as bundle:
        for name, (data, is_program) in sorted(contents(given).items()):
            entry = zipfile.ZipInfo(name, ZIP_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, so that the mode counts
            entry.external_attr = (stat.S_IFREG | (0o755 if is_program else 0o644)) << 16
            bundle.writestr(entry, data)


if __name__ == "__main__":
    main()
