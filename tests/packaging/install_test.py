#!/usr/bin/env python3
"""jarvis install: what it writes into the configurations of clients, in a HOME of its own, and what
it leaves alone. The commands it writes are started and asked for their tools.

    install_test.py [BINARY]      default: $JARVIS_BINARY
"""

import json
import os
import pathlib
import random
import shlex
import subprocess
import sys
import tempfile
import tomllib
import unittest

BINARY = os.environ.get("JARVIS_BINARY", "")
FILES = {"claude-code": ".claude.json",
         "claude-desktop": ".config/Claude/claude_desktop_config.json",
         "vscode": ".config/Code/User/mcp.json",
         "cursor": ".cursor/mcp.json",
         "codex": ".codex/config.toml",
         "gemini": ".gemini/settings.json"}
PROJECT_FILES = {"claude-code": ".mcp.json", "vscode": ".vscode/mcp.json",
                 "cursor": ".cursor/mcp.json", "codex": ".codex/config.toml",
                 "gemini": ".gemini/settings.json"}
SERVERS = {"vscode": "servers", "codex": "mcp_servers"}
URL = "http://127.0.0.1:8765/mcp"


def parsed(client, text):
    return tomllib.loads(text) if client == "codex" else json.loads(text)


def servers(client, text):
    return parsed(client, text)[SERVERS.get(client, "mcpServers")]


class InstallTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name, "home")
        self.project = pathlib.Path(folder.name, "project")
        for path in (self.home, self.project):
            path.mkdir()

    def run_install(self, *arguments, home=True):
        environment = {"PATH": os.environ["PATH"]}
        if home:
            environment["HOME"] = str(self.home)
        return subprocess.run([BINARY, "install", *arguments], capture_output=True, text=True,
                              timeout=60, cwd=self.project, env=environment)

    def install(self, client, *arguments):
        ran = self.run_install("--client", client, *arguments)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(ran.stderr, "")
        return ran.stdout

    def file_of(self, client, text=None):
        path = self.home / FILES[client]
        if text is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return path

    def test_a_new_file_starts_the_program(self):
        for client, file in FILES.items():
            with self.subTest(client):
                said = self.install(client)
                self.assertIn(str(self.home / file), said)
                entry = servers(client, self.file_of(client).read_text())["jarvis"]
                self.assertEqual(entry["command"], os.path.realpath(BINARY))
                line = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'
                ran = subprocess.run([entry["command"], *entry["args"]], input=line, cwd="/",
                                     capture_output=True, text=True, timeout=60, env={})
                names = [tool["name"] for tool in json.loads(ran.stdout)["result"]["tools"]]
                self.assertIn("load_trace", names)

    def test_again_changes_nothing(self):
        for client in FILES:
            with self.subTest(client):
                self.install(client)
                before = self.file_of(client).read_bytes()
                self.assertIn("nothing to do", self.install(client))
                self.assertEqual(self.file_of(client).read_bytes(), before)

    def test_project_files(self):
        for client, file in PROJECT_FILES.items():
            with self.subTest(client):
                self.install(client, "--scope", "project")
                self.assertIn("jarvis", servers(client, (self.project / file).read_text()))
        self.assertEqual(list(self.home.iterdir()), [])
        ran = self.run_install("--client", "claude-desktop", "--scope", "project")
        self.assertEqual(ran.returncode, 2)
        self.assertIn("no configuration of a project", ran.stderr)

    def test_http_with_a_token(self):
        headers = {"claude-code": "Bearer ${TOKEN_X}", "vscode": "Bearer ${env:TOKEN_X}",
                   "cursor": "Bearer ${env:TOKEN_X}", "gemini": "Bearer $TOKEN_X"}
        for client in set(FILES) - {"claude-desktop"}:
            with self.subTest(client):
                self.install(client, "--http", URL, "--token-env=TOKEN_X")
                entry = servers(client, self.file_of(client).read_text())["jarvis"]
                self.assertEqual(entry.get("url", entry.get("httpUrl")), URL)
                self.assertNotIn("command", entry)
                if client == "codex":
                    self.assertEqual(entry["bearer_token_env_var"], "TOKEN_X")
                else:
                    self.assertEqual(entry["headers"], {"Authorization": headers[client]})
                self.install(client, "--http", URL)
                text = self.file_of(client).read_text()
                self.assertNotIn("TOKEN_X", text)
                self.assertIn(URL, text)
                self.install(client)  # and back to the program
                self.assertNotIn(URL, self.file_of(client).read_text())

    def test_allowed_directories(self):
        folder = self.project / "with 'quotes' and spaces"
        folder.mkdir()
        for client in FILES:
            with self.subTest(client):
                self.install(client, "--allow-root", str(folder), "--allow-root", ".")
                entry = servers(client, self.file_of(client).read_text())["jarvis"]
                self.assertEqual(entry["args"], ["serve", "--allow-root", os.path.realpath(folder),
                                                 "--allow-root", os.path.realpath(self.project)])
        ran = self.run_install("--client", "codex", "--allow-root", "/no/such/folder")
        self.assertEqual(ran.returncode, 2)
        self.assertIn("no directory", ran.stderr)

    def test_other_settings_stay(self):
        old = ('{\n    "zeta": [1, 2.5, "\\u00fc \U0001f600"],\n    "mcpServers": {\n'
               '        "other": {"command": "x", "args": []}\n    },\n'
               '    "alpha": {"numStartups": 12345678901234567, "empty": {}, "none": null}\n}\n')
        for client in set(FILES) - {"codex", "vscode"}:
            with self.subTest(client):
                path = self.file_of(client, old)
                path.chmod(0o600)
                self.install(client)
                text = path.read_text()
                new = json.loads(text)
                self.assertEqual(list(new), ["zeta", "mcpServers", "alpha"])
                self.assertEqual(list(new["mcpServers"]), ["other", "jarvis"])
                self.assertTrue(text.startswith('{\n    "zeta"'))
                backup = path.with_name(path.name + ".before-jarvis")
                self.assertEqual(backup.read_text(), old)
                for file in (path, backup):
                    self.assertEqual(file.stat().st_mode & 0o777, 0o600)
                self.install(client, "--uninstall")
                self.assertEqual(json.loads(path.read_text()), json.loads(old))
                self.assertIn("nothing to do", self.install(client, "--uninstall"))
                self.assertEqual([p.name for p in path.parent.iterdir() if p.suffix == ".tmp"], [])

    def test_copies_of_before_stay(self):
        for client in ("cursor", "codex"):
            with self.subTest(client):
                old = "" if client == "codex" else '{"mine": 1}\n'
                path = self.file_of(client, old + "\n")
                copies = [path.with_name(path.name + ".before-jarvis" + more)
                          for more in ("", ".2", ".3")]
                copies[0].write_text("a file of mine")
                self.install(client)
                installed = path.read_text()
                self.assertEqual(copies[0].read_text(), "a file of mine")
                self.assertEqual(copies[1].read_text(), old + "\n")
                said = self.install(client, "--uninstall")
                self.assertIn(str(copies[2]), said)
                self.assertEqual(copies[1].read_text(), old + "\n")
                self.assertEqual(copies[2].read_text(), installed)
                # What was kept already is not kept twice.
                path.write_text(installed)
                self.install(client, "--uninstall")
                self.assertEqual(len(list(path.parent.glob("*.before-jarvis*"))), 3)

    def test_a_copy_is_not_written_through_a_link(self):
        path = self.file_of("cursor", "{}\n")
        (self.home / "other").write_text("mine")
        path.with_name(path.name + ".before-jarvis").symlink_to(self.home / "other")
        ran = self.run_install("--client", "cursor")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("it is a link", ran.stderr)
        self.assertEqual((self.home / "other").read_text(), "mine")
        self.assertEqual(path.read_text(), "{}\n")

    def test_layout_of_json_stays(self):
        for old, start in (('{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"mcpServers"'),
                           ('{"a":1}\n', '{"a":1,"mcpServers"'), ("", '{\n  "mcpServers"'),
                           ("{}", '{\n  "mcpServers"')):
            with self.subTest(old):
                path = self.file_of("cursor", old)
                self.install("cursor")
                text = path.read_text()
                self.assertTrue(text.startswith(start), text)
                self.assertEqual(text.endswith("\n"), old.endswith("\n") or not old)

    def test_what_a_user_added_to_our_entry_stays(self):
        self.install("gemini")
        path = self.file_of("gemini")
        settings = json.loads(path.read_text())
        settings["mcpServers"]["jarvis"].update(timeout=1000, env={"A": "b"}, command="/old/jarvis")
        path.write_text(json.dumps(settings))
        self.install("gemini")
        entry = json.loads(path.read_text())["mcpServers"]["jarvis"]
        self.assertEqual(entry["timeout"], 1000)
        self.assertEqual(entry["env"], {"A": "b"})
        self.assertEqual(entry["command"], os.path.realpath(BINARY))

    def test_files_that_cannot_be_edited_are_left_alone(self):
        cases = [("vscode", '{\n  // my servers\n  "servers": {}\n}\n'), ("cursor", "{"),
                 ("cursor", "[]"), ("gemini", '{"mcpServers": []}'),
                 ("codex", "[mcp_servers.jarvis\n"), ("codex", 'a = """\nopen'),
                 ("codex", "a = [1,\n"), ("codex", "a = \n"), ("codex", "a = 1 = 2]\n"),
                 ("codex", 'mcp_servers = { other = { command = "x" } }\n'),
                 ("codex", 'mcp_servers.jarvis.command = "x"\n'),
                 ("codex", '[mcp_servers]\njarvis = { command = "x" }\n'),
                 ("codex", '[[mcp_servers.jarvis]]\ncommand = "x"\n')]
        for client, old in cases:
            for more in ((), ("--uninstall",)):
                with self.subTest((client, old, more)):
                    path = self.file_of(client, old)
                    ran = self.run_install("--client", client, *more)
                    self.assertEqual(ran.returncode, 1, ran.stdout)
                    self.assertIn(str(path) + " was not changed: ", ran.stderr)
                    self.assertEqual("by hand" in ran.stderr, True)
                    self.assertEqual(os.path.realpath(BINARY) in ran.stderr, not more)
                    self.assertEqual(path.read_text(), old)

    def test_toml_keeps_every_other_line(self):
        others = ('# my settings\nmodel = "o"   # the model\n\n[profiles."a b"]\n'
                  "text = '''\n[mcp_servers.jarvis]\n'''\nlist = [\n  1, # one ]\n  2,\n]\n\n"
                  '[mcp_servers.other]\ncommand = "x"\nenv = { A = "[" }\n')
        for old in (others, others.rstrip("\n"), others.replace("\n", "\r\n"), "# only this", ""):
            with self.subTest(old):
                path = self.file_of("codex", old)
                self.install("codex")
                with path.open(newline="") as file:
                    new = file.read()
                self.assertTrue(new.startswith(old), new)
                self.assertIn("jarvis", tomllib.loads(new)["mcp_servers"])
                self.install("codex", "--uninstall")
                with path.open(newline="") as file:
                    self.assertEqual(file.read().rstrip("\n"), old.rstrip("\n"))

    def test_toml_of_any_shape(self):
        """Python's reader sees the same before, plus our table, and after that the same again."""
        pieces = ["# a [comment]\n", "\n", "\t# indented\n", 'k{n} = "a # b"\n',
                  "k{n} = 'c:\\'  # literal\n", 'k{n} = """\n[mcp_servers.jarvis]\n\\""" x"""""\n',
                  "k{n} = \'\'\'[t]\nx = 1\'\'\'\n", "k{n} = [ # first ]\n  [1, 2], # ]\n  'x]',\n]\n",
                  "k{n} = {{ a = 1, b.c = '}}' }}\n", "k{n}.d.e = 1979-05-27 07:32:00Z\n",
                  'k{n} = "q\\"[" # "\n', "[t{n}]\n", "[ t{n} . 'x y' ]  # header\n",
                  '[mcp_servers.s{n}]\ncommand = "x"\n', "[[list{n}.inner]]\nv = 1\n",
                  '[mcp_servers.s{n}.env]\n"A B" = "1"\n', '"quoted.{n}" = 1\r\n', "k{n} = \"\"\n",
                  "[mcp_servers.jarvis.env]\nA = '{n}'\n", "k{n} = -inf\n"]
        random_pieces = random.Random(5)
        tried = 0
        while tried < 60:
            old = "".join(random_pieces.choice(pieces).format(n=n)
                          for n in range(random_pieces.randint(1, 9)))
            if random_pieces.random() < 0.3:
                old = old.rstrip("\n")
            try:
                before = tomllib.loads(old)
            except tomllib.TOMLDecodeError:  # a table twice, say
                continue
            tried += 1
            with self.subTest(old):
                path = self.file_of("codex")
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(old.encode())
                self.install("codex")
                after = tomllib.loads(path.read_bytes().decode())
                ours = after["mcp_servers"]["jarvis"]
                self.assertEqual(ours["command"], os.path.realpath(BINARY))
                mine = before.get("mcp_servers", {}).pop("jarvis", {})
                self.assertEqual({name: ours[name] for name in mine}, mine)
                del after["mcp_servers"]["jarvis"]
                self.assertEqual(after, {"mcp_servers": {}, **before})
                self.install("codex", "--uninstall")
                after = tomllib.loads(path.read_bytes().decode())
                self.assertEqual({"mcp_servers": {}, **after}, {"mcp_servers": {}, **before})

    def test_toml_table_in_the_middle(self):
        old = ("[mcp_servers.jarvis] # mine\n# how long\ntool_timeout_sec = 7\nargs = [\n  'a',\n]\n"
               "command = 'old'\nenabled = true\n\n[mcp_servers.jarvis.env]\nA = '1'\n"
               "\n# the end\n[last]\nx = 1\n")
        path = self.file_of("codex", old)
        self.install("codex")
        new = tomllib.loads(path.read_text())
        self.assertEqual(new["last"], {"x": 1})
        self.assertEqual(new["mcp_servers"]["jarvis"], {
            "command": os.path.realpath(BINARY), "args": ["serve"], "startup_timeout_sec": 10,
            "tool_timeout_sec": 7, "enabled": True, "env": {"A": "1"}})
        self.assertIn("# how long\ntool_timeout_sec = 7\n", path.read_text())
        self.install("codex", "--uninstall")
        self.assertEqual(path.read_text(), "\n# the end\n[last]\nx = 1\n")

    def test_a_link_stays_a_link(self):
        real = self.project / "dotfiles.json"
        real.write_text('{"a": 1}')
        path = self.file_of("cursor")
        path.parent.mkdir()
        path.symlink_to(real)
        self.install("cursor")
        self.assertTrue(path.is_symlink())
        self.assertIn("jarvis", json.loads(real.read_text())["mcpServers"])

    def test_print_changes_nothing_and_says_where(self):
        commands = {"claude-code": "claude mcp add", "vscode": "code --add-mcp",
                    "codex": "codex mcp add", "gemini": "gemini mcp add"}
        for client, file in FILES.items():
            for more in ((), ("--http", URL, "--token-env", "T")):
                if more and client == "claude-desktop":
                    continue
                with self.subTest((client, more)):
                    said = self.install(client, "--print", *more)
                    self.assertIn(str(self.home / file), said)
                    snippet = said.split("\n\n")[1]
                    self.assertIn("jarvis", servers(client, snippet))
                    self.assertEqual(commands.get(client, "mcp add") in said, client in commands)
        self.assertEqual(list(self.home.iterdir()), [])

    def test_the_clients_own_command_survives_a_shell(self):
        folder = self.project / "it's $HOME"
        folder.mkdir()
        said = self.install("claude-code", "--print", "--allow-root", str(folder))
        words = shlex.split(said.strip().splitlines()[-1])
        self.assertEqual(words[words.index("--") + 1:], [
            os.path.realpath(BINARY), "serve", "--allow-root", os.path.realpath(folder)])
        said = self.install("vscode", "--print", "--allow-root", str(folder))
        entry = json.loads(shlex.split(said.strip().splitlines()[-1])[-1])
        self.assertEqual(entry["name"], "jarvis")
        self.assertEqual(entry["args"][-1], os.path.realpath(folder))

    def test_list(self):
        self.install("codex")
        self.file_of("vscode", "{ // comment\n}")
        self.file_of("cursor", "{}")
        said = self.run_install("--list").stdout
        for client, file in FILES.items():
            self.assertIn(client, said)
            self.assertIn(str(self.home / file), said)
        self.assertIn(".codex/config.toml (installed)", said)
        self.assertIn(str(self.home / FILES["vscode"]) + " (unreadable", said)
        self.assertIn(str(self.home / FILES["cursor"]) + " (not installed)", said)
        self.assertIn(str(self.home / FILES["gemini"]) + " (no file)", said)

    def test_what_is_not_understood(self):
        cases = [((), "needs --client"), (("--client", "cursr"), "did you mean cursor?"),
                 (("--client",), "needs a value"), (("x",), "does not take"),
                 (("--client", "codex", "--http", "127.0.0.1:1"), "expected a URL"),
                 (("--client", "codex", "--token-env", "T"), "goes with --http"),
                 (("--client", "codex", "--http", URL, "--token-env", "to ken"), "name of an"),
                 (("--client", "codex", "--http", URL, "--allow-root", "/"), "running server"),
                 (("--client", "claude-desktop", "--http", URL), "leave out --http"),
                 (("--client", "codex", "--scope", "global"), "expected user or project")]
        for arguments, text in cases:
            with self.subTest(arguments):
                ran = self.run_install(*arguments)
                self.assertEqual(ran.returncode, 2)
                self.assertIn(text, ran.stderr)
                self.assertIn("install --help", ran.stderr)

    def test_without_a_home(self):
        ran = self.run_install("--client", "codex", home=False)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("HOME is not set", ran.stderr)

    def test_a_folder_that_cannot_be_written(self):
        self.file_of("codex").parent.parent.joinpath(".codex").write_text("a file in the way")
        ran = self.run_install("--client", "codex")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("cannot make directory", ran.stderr)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        BINARY = sys.argv.pop(1)
    if not BINARY:
        print("no program to test")
        sys.exit(77)
    unittest.main()
