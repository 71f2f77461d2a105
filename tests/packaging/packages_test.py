#!/usr/bin/env python3
"""What users install, made by the build that this test belongs to: each is unpacked into a folder
of its own and its program is asked for an analysis.

    packages_test.py      program: $JARVIS_BINARY, in its build folder
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest
import zipfile

SOURCE = pathlib.Path(os.environ.get("JARVIS_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
BINARY = pathlib.Path(os.environ.get("JARVIS_BINARY", ""))
BUILD = BINARY.parent
MADE = BUILD / "src/packaging"
TRACE = SOURCE / "examples/data/transformer_step.json.gz"
PACKAGING = SOURCE / "src/packaging"
PATIENCE_S = 300
# What a machine must have by itself.
C_LIBRARY = re.compile(r"/(ld-linux[^/]*|lib(c|m|dl|rt|pthread|resolv)\.so\.\d+)$")


def run(*command, check=True, **more):
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                         timeout=PATIENCE_S, check=False, **more)
    if check and ran.returncode != 0:
        raise AssertionError(f"{command}: {ran.returncode}\n{ran.stdout}\n{ran.stderr}")
    return ran


def build(*targets):
    run("cmake", "--build", BUILD, "--target", *targets)


def cache_entry(name):
    match = re.search(rf"(?m)^{name}:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text())
    return match[1] if match else ""


def version():
    return run(BINARY, "--version").stdout.split()[1]


def analyse(command, environment):
    """Starts a server as a host does; what load_trace says about the example."""
    requests = [{"method": "tools/list"},
                {"method": "tools/call",
                 "params": {"name": "load_trace", "arguments": {"trace": str(TRACE)}}}]
    lines = "".join(json.dumps({"jsonrpc": "2.0", "id": i, **request}) + "\n"
                    for i, request in enumerate(requests))
    answers = {}
    with subprocess.Popen([*map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, cwd=TRACE.parent,
                          env=environment) as server:
        server.stdin.write(lines)
        server.stdin.flush()
        # The end of the input stops what still runs, so it comes after the answers.
        while len(answers) < len(requests):
            answer = json.loads(server.stdout.readline())
            answers[answer["id"]] = answer["result"]
        server.stdin.close()
    return answers[0]["tools"], answers[1]["structuredContent"]["summary"]


class PackagesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class BundleTest(PackagesTest):
    @classmethod
    def setUpClass(cls):
        build("mcpb")
        cls.bundle, = MADE.glob(f"jarvis-{version()}-*.mcpb")

    def unpacked(self):
        run("unzip", "-q", self.bundle, "-d", self.folder)
        return self.folder, json.loads((self.folder / "manifest.json").read_text())

    def test_it_runs_with_its_own_libraries(self):
        folder, manifest = self.unpacked()
        self.assertEqual(manifest["version"], version())
        program = folder / manifest["server"]["entry_point"]
        for line in run("ldd", program, env={}).stdout.splitlines():
            path = line.split("=>")[-1].split()[0]
            if not path.startswith(str(folder)) and "linux-vdso" not in path:
                self.assertRegex(path, C_LIBRARY)
        for library in (folder / "server/lib").iterdir():
            self.assertNotRegex("/" + library.name, C_LIBRARY)
        config = manifest["server"]["mcp_config"]
        command = [config["command"].replace("${__dirname}", str(folder))]
        for argument in config["args"]:
            name = re.fullmatch(r"\$\{user_config\.(\w+)\}", argument)
            # A host puts in as many arguments as its user gave directories.
            command += [str(TRACE.parent), str(folder)] if name else [argument]
            if name:
                self.assertTrue(manifest["user_config"][name[1]]["multiple"])
        tools, summary = analyse(command, {**config["env"], "HOME": str(folder)})
        self.assertIn("17350 events", summary)
        self.assertEqual([tool["name"] for tool in manifest["tools"]],
                         [tool["name"] for tool in tools])
        for listed, tool in zip(manifest["tools"], tools, strict=True):
            self.assertTrue(tool["description"].startswith(listed["description"].rstrip(" .")))

    def test_it_asks_for_directories_when_the_server_takes_them(self):
        takes = "--allow-root" in run(BINARY, "serve", "--help").stdout
        _, manifest = self.unpacked()
        self.assertEqual("--allow-root" in manifest["server"]["mcp_config"]["args"], takes)
        self.assertEqual("user_config" in manifest, takes)

    def test_directories_are_asked_for_as_arguments(self):
        sys.path.insert(0, str(PACKAGING))
        self.addCleanup(sys.path.remove, str(PACKAGING))
        import make_mcpb
        program = self.folder / "program"
        program.write_text('#!/bin/sh\necho "  --allow-root DIR..."\n')
        program.chmod(0o755)
        server, asked = make_mcpb.server_part(str(program))
        self.assertEqual(server["mcp_config"]["args"],
                         ["serve", "--allow-root", "${user_config.directories}"])
        self.assertEqual((asked["directories"]["type"], asked["directories"]["required"]),
                         ("directory", True))

    def test_every_library_has_its_licence(self):
        folder, _ = self.unpacked()
        self.assertIn("MIT License", (folder / "LICENSE").read_text())
        licences = {path.name for path in (folder / "server/licences").iterdir()}
        self.assertLessEqual({"libstdc++6.txt", "libssl3.txt", "libfmt9.txt", "zlib1g.txt"},
                             licences)
        for path in (folder / "server/licences").iterdir():
            for name in re.findall(r"/usr/share/common-licenses/([\w.-]*\w)", path.read_text()):
                self.assertIn(name + ".txt", licences)

    def test_the_same_bytes_again(self):
        again = self.folder / "again.mcpb"
        run(sys.executable, "-B", PACKAGING / "make_mcpb.py", "--program", MADE / "jarvis",
            "--version", version(), "--description", cache_entry("CMAKE_PROJECT_DESCRIPTION"),
            "--licence", SOURCE / "LICENSE", "--out", again, env={**os.environ, "TZ": "Asia/Tokyo"})
        self.assertEqual(again.read_bytes(), self.bundle.read_bytes())
        with zipfile.ZipFile(again) as bundle:
            mode = bundle.getinfo("server/bin/jarvis").external_attr >> 16
        self.assertEqual(mode & 0o777, 0o755)

    def test_registry_entry(self):
        out = self.folder / "server.json"
        script = [sys.executable, "-B", PACKAGING / "make_server_json.py", "--bundle", self.bundle,
                  "--version", version(), "--description",
                  cache_entry("CMAKE_PROJECT_DESCRIPTION"), "--out", out]
        for source, releases in (("github", "/releases/download/v"),
                                 ("gitlab", "/-/releases/v")):
            url = f"https://{source}.com/some-one/jarvis"
            run(*script, "--repository", url)
            entry = json.loads(out.read_text())
            self.assertEqual(entry["name"], f"io.{source}.some-one/jarvis")
            self.assertRegex(entry["name"], r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$")
            self.assertIn("/2025-12-11/server.schema.json", entry["$schema"])
            self.assertEqual(entry["version"], version())
            self.assertLessEqual(len(entry["description"]), 100)
            self.assertEqual(entry["repository"], {"url": url, "source": source})
            package, = entry["packages"]
            self.assertTrue(package["identifier"].startswith(url + releases + version()))
            self.assertTrue(package["identifier"].endswith("/" + self.bundle.name))
            self.assertIn("mcp", package["identifier"])
            self.assertEqual(package["fileSha256"],
                             hashlib.sha256(self.bundle.read_bytes()).hexdigest())
            self.assertEqual(package["transport"], {"type": "stdio"})
        for url in ("", "https://example.com/a/b", "http://github.com/a/b"):
            ran = run(*script, "--repository", url, check=False)
            self.assertEqual(ran.returncode, 1)
            self.assertIn("JARVIS_REPOSITORY_URL", ran.stderr)


class PluginTest(PackagesTest):
    def test_plugin(self):
        build("jarvis_plugin")
        plugin = MADE / "claude-plugin"
        manifest = json.loads((plugin / ".claude-plugin/plugin.json").read_text())
        self.assertEqual((manifest["name"], manifest["version"]), ("jarvis", version()))
        server = json.loads((plugin / ".mcp.json").read_text())["mcpServers"]["jarvis"]
        environment = {"PATH": f"{BUILD}:/usr/bin:/bin"}
        _, summary = analyse([shutil.which(server["command"], path=environment["PATH"]),
                              *server["args"]], environment)
        self.assertIn("17350 events", summary)
        skills = SOURCE / "skills"
        expected = sorted(p.relative_to(skills) for p in skills.rglob("*") if p.is_file())
        found = plugin / "skills"
        self.assertEqual(sorted(p.relative_to(found) for p in found.rglob("*") if p.is_file()),
                         expected)

    def test_skills_are_copied_and_old_ones_go(self):
        skills, copy = self.folder / "skills", self.folder / "copy"
        command = ["cmake", f"-DFROM={skills}", f"-DTO={copy}", "-P",
                   PACKAGING / "copy_skills.cmake"]
        run(*command)  # none yet
        self.assertEqual(list(copy.iterdir()), [])
        (skills / "one").mkdir(parents=True)
        (skills / "one/SKILL.md").write_text("---\nname: one\n---\n")
        run(*command)
        self.assertTrue((copy / "one/SKILL.md").exists())
        (skills / "one").rename(skills / "two")
        run(*command)
        self.assertEqual([p.name for p in copy.iterdir()], ["two"])


class DebianTest(PackagesTest):
    @classmethod
    def setUpClass(cls):
        for program in ("dpkg-deb", "dpkg-shlibdeps"):
            if not shutil.which(program):
                raise unittest.SkipTest(program + " is not installed")
        build("jarvis", "jarvis_papers", "jarvis_plugin")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        run("cpack", "-G", "DEB", "-B", folder.name, cwd=BUILD)
        cls.package, = pathlib.Path(folder.name).glob("*.deb")
        cls.root = pathlib.Path(folder.name, "root")
        run("dpkg-deb", "-x", cls.package, cls.root)

    def test_what_is_in_it(self):
        fields = run("dpkg-deb", "-I", self.package).stdout
        self.assertIn(f"Version: {version()}\n", fields)
        self.assertRegex(fields, r"Depends: .*libc6 \(>= .*libfmt9")
        # Loaded when a PNG is asked for, so nothing to depend on.
        self.assertIn("Recommends: librsvg2-2, libarchive13\n", fields)
        self.assertNotRegex(fields, r"\n Depends: .*(librsvg|libarchive)")
        self.assertIn("conffiles", fields)
        listed = run("dpkg-deb", "-c", self.package).stdout
        for line in listed.splitlines():
            self.assertRegex(line, r"^[d-]rw[x-]r-[x-]r-[x-] root/root", line)
        files = {str(p.relative_to(self.root)) for p in self.root.rglob("*") if p.is_file()}
        schemas = {f"usr/share/jarvis/schemas/{p.name}"
                   for p in (SOURCE / "tools_schema").glob("*.json")}
        skills = {f"usr/share/jarvis/{p.relative_to(SOURCE)}"
                  for p in (SOURCE / "skills").rglob("*") if p.is_file()}
        self.assertLessEqual({
            "usr/bin/jarvis", "usr/share/man/man1/jarvis.1.gz", "usr/share/doc/jarvis/copyright",
            "usr/share/jarvis/claude-plugin/.claude-plugin/plugin.json", "etc/default/jarvis",
            "lib/systemd/system/jarvis.service"} | schemas | skills, files)

    def test_the_program_runs(self):
        program = self.root / "usr/bin/jarvis"
        self.assertNotIn("RPATH", run("readelf", "-d", program).stdout)
        self.assertNotIn("RUNPATH", run("readelf", "-d", program).stdout)
        example = self.root / "usr/share/doc/jarvis/examples/data/transformer_step.json.gz"
        self.assertIn("17350 events", run(program, "load_trace", example, env={}).stdout)
        home = self.folder / "home"
        home.mkdir()
        run(program, "install", "--client", "codex", env={"HOME": str(home)})
        entry = tomllib.loads((home / ".codex/config.toml").read_text())["mcp_servers"]["jarvis"]
        _, summary = analyse([entry["command"], *entry["args"]], {})
        self.assertIn("17350 events", summary)

    def test_man_page(self):
        page = self.root / "usr/share/man/man1/jarvis.1.gz"
        text = run("gzip", "-dc", page).stdout
        for word in ("serve", "install", "load_trace", "--allow-root", "--token-file",
                     "--output-xlsx"):
            self.assertIn(word.replace("-", "\\-"), text)
        if not shutil.which("man"):
            self.skipTest("man is not installed")
        ran = run("man", "--warnings", "-l", page,
                  env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80", "MANROFFOPT": "-ww"})
        self.assertEqual(ran.stderr, "")
        for tool in (SOURCE / "tools_schema").glob("*.json"):
            self.assertIn("TOOL " + tool.stem.upper(), ran.stdout)

    def test_service(self):
        unit = (self.root / "lib/systemd/system/jarvis.service").read_text()
        options = re.search(r'(?m)^JARVIS_OPTIONS="(.*)"$',
                            (self.root / "etc/default/jarvis").read_text())[1]
        command = re.search(r"(?m)^ExecStart=(.*)$", unit)[1]
        self.assertEqual(command, "/usr/bin/jarvis serve $JARVIS_OPTIONS")
        # The options are ones that the program takes: --help after them is still an answer.
        run(BINARY, "serve", *options.split(), "--help")
        self.assertFalse((self.root / "etc/systemd").exists())  # nothing enables it
        if not shutil.which("systemd-analyze"):
            self.skipTest("systemd-analyze is not installed")
        root = self.folder / "root"
        shutil.copytree(self.root, root)
        shutil.copytree("/lib/systemd/system", root / "lib/systemd/system", symlinks=True,
                        dirs_exist_ok=True)
        ran = run("systemd-analyze", "verify", "--man=no", f"--root={root}", "jarvis.service")
        self.assertEqual(ran.stderr, "")
        exposure = run("systemd-analyze", "security", "--offline=true",
                       root / "lib/systemd/system/jarvis.service").stdout
        level = re.search(r"exposure level for jarvis\.service: ([\d.]+)", exposure)[1]
        self.assertLess(float(level), 2.0)

    def test_links_of_the_readme_are_there(self):
        folder = self.root / "usr/share/doc/jarvis"
        links = re.findall(r"\]\(([^)#:\s]+)", (folder / "README.md").read_text())
        self.assertIn("examples/sessions/README.md", links)
        for link in links:
            self.assertTrue((folder / link).exists(), link)

    def test_lintian(self):
        if not shutil.which("lintian"):
            self.skipTest("lintian is not installed")
        ran = run("lintian", "--fail-on", "error,warning", self.package, check=False)
        self.assertEqual((ran.returncode, ran.stdout), (0, ""), ran.stderr)

    def test_plain_installation_leaves_the_system_alone(self):
        run("cmake", "--install", BUILD, "--prefix", self.folder / "local",
            env={**os.environ, "DESTDIR": ""})
        folders = sorted(p.name for p in (self.folder / "local").iterdir())
        self.assertEqual(folders, ["bin", "share"])
        self.assertIn("jarvis", run(self.folder / "local/bin/jarvis", "--version").stdout)


if __name__ == "__main__":
    if not (BUILD / "CMakeCache.txt").exists() or cache_entry("JARVIS_SANITIZE"):
        print("skipped: packages are made from a build without sanitizers")
        sys.exit(77)
    unittest.main()
