"""The man page and the completions, which several packages hold. `texts/` writes them out of the definition of the command line."""

import functools
import os

from product import HERE, run, target_folder


@functools.cache
def texts_folder():
    """The folder with the man page and the completions, made anew once for each script."""
    folder = os.path.join(target_folder(), "packages", "texts")
    os.makedirs(folder, exist_ok=True)
    run("cargo", "run", "--quiet", "--locked", "--manifest-path", os.path.join(HERE, "texts", "Cargo.toml"),
        "--target-dir", os.path.join(target_folder(), "packages-texts"), "--", folder)
    return folder
