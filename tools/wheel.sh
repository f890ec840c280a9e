#!/usr/bin/env bash
# Build the wheel, install it in empty environments with the pip that comes with each Python, and run the demo.
# The Pythons: the one that is named, and those of pyenv from 3.11 on.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
.venv/bin/python -m hatchling build -t wheel -d "$folder" > /dev/null

try() { # PYTHON VERSION
    local home=$folder/$2
    "$1" -m venv "$home"
    local pip=("$home/bin/python" -m pip --disable-pip-version-check --no-input)
    "${pip[@]}" install --quiet --no-compile "$folder"/hengwen-*.whl
    (cd "$home" && bin/hengwen demo --quiet -o demo.html > demo.txt)
    test -s "$home/demo.html"
    echo "Python $2, $("${pip[@]}" --version | cut -d' ' -f1,2): $(du -sm --apparent-size "$home" | cut -f1) MB; the demo runs"
    rm -rf "$home"
}

installed=" "
tries=()
for python in "$(command -v "${1:-python3}")" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[1-9]*/bin/python3; do
    [ -x "$python" ] || continue
    version=$("$python" -c 'import platform; print(platform.python_version())')
    case $installed in *" $version "*) continue ;; esac
    installed+="$version "
    try "$python" "$version" &
    tries+=($!)
done
for process in "${tries[@]}"; do
    wait "$process"
done
