#!/usr/bin/env python3
"""Writes the manual page from what the program says about itself.

    make_man.py PROGRAM OUT

Every command and tool that `PROGRAM --help` lists is asked for its own help; nothing about flags
is written here. Standard library only."""

import pathlib
import re
import subprocess
import sys

FLAG_INDENT = 2  # of a line that begins a flag; what explains it stands deeper
ENDING = """.SH EXIT STATUS
0 when it was done, 1 when it was understood and not done (the reason is on standard error),
2 when it was not understood, 128 and a signal's number after that signal.
.SH FILES
.TP
.I /usr/share/jarvis/schemas
What each tool takes and answers, as JSON schemas.
.TP
.I /usr/share/jarvis/claude\\-plugin
A plugin for Claude Code: the server, and skills where there are any.
.TP
.I /etc/default/jarvis
Options of the service jarvis.service, which is off by default.
"""


def ask(program, *arguments):
    """What it prints; None: it does not know these arguments."""
    ran = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60,
                         stdin=subprocess.DEVNULL, check=False)
    return ran.stdout if ran.returncode == 0 else None


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return re.sub(r"(?m)^([.'])", r"\\&\1", text)


def indent_of(line):
    return len(line) - len(line.lstrip(" "))


def flag_item(line, following):
    """A flag with what explains it: on its line after two blanks, on the lines below, or both."""
    name, _, text = line.strip().partition("  ")
    words = [text.strip(), *(more.strip() for more in following)]
    text = " ".join(word for word in words if word)
    return f".TP\n.B {escaped(name)}\n{escaped(text) or chr(92) + '&'}\n"


def body(text):
    """Help as roff: flags as items, other indented lines as they are, the rest as paragraphs."""
    out, lines, at = "", text.splitlines(), 0
    while at < len(lines):
        line = lines[at]
        end = at + 1
        if re.match(r" {%d}-" % FLAG_INDENT, line):
            while end < len(lines) and indent_of(lines[end]) > FLAG_INDENT + 2:
                end += 1
            out += flag_item(line, lines[at + 1:end])
        elif line.startswith((" ", "Usage:")):
            while end < len(lines) and lines[end].startswith(" ") and not re.match(
                    r" {%d}-" % FLAG_INDENT, lines[end]):
                end += 1
            out += ".PP\n.nf\n" + "".join(escaped(l) + "\n" for l in lines[at:end]) + ".fi\n"
        elif line:
            while end < len(lines) and lines[end] and not lines[end].startswith((" ", "Usage:")):
                end += 1
            out += ".PP\n" + "".join(escaped(l) + "\n" for l in lines[at:end])
        at = end
    return out


def names(help_text, heading):
    """The first words of the indented lines under a heading."""
    section = re.search(r"^%s.*\n((?: .*\n)+)" % heading, help_text, re.M)
    if not section:
        raise SystemExit(f"make_man: no {heading} in --help")
    return re.findall(r"(?m)^  (\w\S*)", section[1])


def page(program):
    overview = ask(program, "--help")
    version = ask(program, "--version").split()[1]
    title, _, rest = overview.partition("\n")
    name, _, what = title.partition(": ")
    out = (f'.TH JARVIS 1 "" "jarvis {version}" "User Commands"\n'
           f".SH NAME\n{name} \\- {escaped(what.rstrip('.'))}\n.SH DESCRIPTION\n{body(rest)}")
    for heading, kind in (("Commands", "COMMAND"), ("Tools", "TOOL")):
        for command in names(overview, heading):
            text = ask(program, command, "--help")
            if text:
                out += f".SH {kind} {escaped(command.upper())}\n{body(text)}"
    return out + ENDING


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    pathlib.Path(sys.argv[2]).write_text(page(sys.argv[1]), encoding="utf-8")
