"""Whose a name at a registry is: free, or of the repository that the newest version under the name tells of. A name of another project is not
published to. Whoever owns a name can have it tell of any repository: the registry itself refuses those who have no rights to the name.
"""

import http.client
import json
import urllib.error
import urllib.parse
import urllib.request

from product import NAME, PLATFORMS, REPOSITORY

ADDRESSES = {"npm": "https://registry.npmjs.org", "pypi": "https://pypi.org", "crates": "https://crates.io"}
# The names that a release takes at each registry. At the others, names begin with that of the owner of the repository.
NAMES = {"npm": [*(f"{NAME}-{platform}" for platform in PLATFORMS), NAME], "pypi": [NAME], "crates": [NAME]}


def of_npm(told):
    """The version and the addresses that npm tells of a package."""
    newest = told["versions"][told["dist-tags"]["latest"]]
    repository = newest.get("repository") or {}
    return newest["version"], [repository if isinstance(repository, str) else repository.get("url"), newest.get("homepage")]


def of_pypi(told):
    """The version and the addresses that PyPI tells of a project."""
    about = told["info"]
    return about["version"], [about.get("home_page"), *(about.get("project_urls") or {}).values()]


def of_crates(told):
    """The version and the addresses that crates.io tells of a crate."""
    about = told["crate"]
    return about["newest_version"], [about.get("repository"), about.get("homepage")]


# Where each registry tells of a name, and who reads that.
TELLING = {"npm": ("/{}", of_npm), "pypi": ("/pypi/{}/json", of_pypi), "crates": ("/api/v1/crates/{}", of_crates)}


def plain(address):
    """An address of a repository, as all its forms have it."""
    return (address or "").strip().lower().removeprefix("git+").rstrip("/").removesuffix(".git")


def asked(registry, name, address):
    """What a registry tells of a name; None if nobody has it."""
    where = address.rstrip("/") + TELLING[registry][0].format(urllib.parse.quote(name))
    # crates.io answers only those who say what they are.
    question = urllib.request.Request(where, headers={"User-Agent": f"{NAME} ({REPOSITORY})", "Accept": "application/json"})
    try:
        with urllib.request.urlopen(question, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        raise


def refusal(registry, address=None):
    """Why nothing may be published to a registry; None if each name there is free or of this repository. `address`: another place to ask."""
    for name in NAMES.get(registry, []):
        try:
            told = asked(registry, name, address or ADDRESSES[registry])
            if told is None:
                continue
            version, addresses = TELLING[registry][1](told)
        except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError, AttributeError) as error:
            return f"nothing is published: {registry} does not tell whose the name {name} is ({error!r})"
        if plain(REPOSITORY) not in map(plain, addresses):
            others = " ".join(filter(None, addresses)) or "no repository"
            return (f"nothing is published: at {registry}, the name {name} is another project's: its newest version, {version}, tells of {others}, not of "
                    f"{REPOSITORY}. Get the name from its owner or choose another one: packaging/README.md, Releases")
    return None
