#!/bin/sh
# Writes the lock files anew from pyproject.toml: versions and hashes for every supported Python and system, no index addresses.
set -eu
cd "$(dirname "$0")/.."
# setuptools builds the project itself, without an isolated environment of unlocked versions.
compile() {
    echo 'setuptools>=77' | uv pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
        --constraints tools/constraints.txt "$@" pyproject.toml -
}
compile -o requirements.lock
compile --extra rtx -o requirements-rtx.lock
compile --extra dev -o requirements-dev.lock
