"""A registry of npm and an index of PyPI on this machine, which have the finished packages and nothing else. With them npx and uvx start the
product by its name, as they do once it is published. Also what PyPI and crates.io tell of a name.
"""

import base64
import contextlib
import email
import hashlib
import http.server
import json
import os
import tarfile
import threading
import tomllib
import zipfile


def about_npm(folder, address):
    """What a registry tells of each npm package in a folder."""
    told = {}
    for file in sorted(name for name in os.listdir(folder) if name.endswith(".tgz")):
        path = os.path.join(folder, file)
        with tarfile.open(path) as package:
            about = json.load(package.extractfile("package/package.json"))
        with open(path, "rb") as content:
            digest = base64.b64encode(hashlib.file_digest(content, "sha512").digest()).decode()
        about["dist"] = {"tarball": f"{address}/files/{file}", "integrity": f"sha512-{digest}"}
        told[about["name"]] = {"name": about["name"], "dist-tags": {"latest": about["version"]}, "versions": {about["version"]: about}}
    return told


def index_of(folder, address):
    """The page of an index that lists the wheels in a folder."""
    return "".join(f'<a href="{address}/files/{name}">{name}</a>\n' for name in sorted(os.listdir(folder)) if name.endswith(".whl"))


def about_pypi(folder):
    """What PyPI tells of the project of each wheel in a folder."""
    told = {}
    for file in sorted(name for name in os.listdir(folder) if name.endswith(".whl")):
        with zipfile.ZipFile(os.path.join(folder, file)) as wheel:
            [path] = [path for path in wheel.namelist() if path.endswith(".dist-info/METADATA")]
            about = email.message_from_bytes(wheel.read(path))
        urls = dict(line.split(", ", 1) for line in about.get_all("Project-URL", []))
        told[about["Name"]] = {"info": {"name": about["Name"], "version": about["Version"], "home_page": about["Home-page"], "project_urls": urls or None}}
    return told


def about_crates(folder):
    """What crates.io tells of each crate in a folder."""
    told = {}
    for file in sorted(name for name in os.listdir(folder) if name.endswith(".crate")):
        with tarfile.open(os.path.join(folder, file)) as crate:
            about = tomllib.load(crate.extractfile(f"{file.removesuffix('.crate')}/Cargo.toml"))["package"]
        told[about["name"]] = {"crate": {"newest_version": about["version"], "repository": about.get("repository"), "homepage": about.get("homepage")}}
    return told


@contextlib.contextmanager
def serving(folder):
    """Serves the packages in a folder. Gives the address: it is that of a registry of npm; that of the index is its `/simple`. Names of PyPI and
    of crates.io are asked for as there.
    """
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            address = f"http://{self.headers['Host']}"
            place, _, name = self.path.strip("/").partition("/")
            npm = about_npm(folder, address)
            if place == "files" and name in os.listdir(folder):
                with open(os.path.join(folder, name), "rb") as file:
                    self.answer("application/octet-stream", file.read())
            elif place == "simple":
                self.answer("text/html", index_of(folder, address).encode())
            elif place == "pypi":
                self.tell(about_pypi(folder).get(name.removesuffix("/json")))
            elif place == "api":
                self.tell(about_crates(folder).get(name.removeprefix("v1/crates/")))
            else:
                self.tell(npm.get(place))

        def tell(self, told):
            if told:
                self.answer("application/json", json.dumps(told).encode())
            else:
                self.send_error(404)

        def answer(self, kind, content):
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_HEAD = do_GET

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
