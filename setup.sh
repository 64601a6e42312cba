# Sourced by ./demo and ./test: finds Python, makes a virtual environment, installs into it.

say() { printf '%s\n' "$*" >&2; }

# Debian packages are installed only when a command is missing, with sudo where we are not root.
apt_install() {
    local sudo=
    [ "$(id -u)" = 0 ] || sudo=sudo
    if ! command -v apt-get >/dev/null || { [ -n "$sudo" ] && ! command -v sudo >/dev/null; }; then
        say "rocdbg: please install: $*"
        return 1
    fi
    say "rocdbg: installing $*"
    $sudo apt-get update -qq >&2 || true
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq "$@" >/dev/null
}

find_python() {
    local candidate
    for candidate in python3 python3.13 python3.12 python3.11; do
        if command -v "$candidate" >/dev/null &&
            "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    apt_install python3 python3-venv || true
    if command -v python3 >/dev/null && python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        printf 'python3\n'
        return
    fi
    say "rocdbg: Python 3.11 or newer is needed"
    return 1
}

# make_venv FOLDER REQUIREMENT: a virtual environment with this checkout installed in place.
make_venv() {
    local folder=$1 requirement=$2 python stamp
    stamp=$folder/.installed
    [ -e "$stamp" ] && [ "$stamp" -nt pyproject.toml ] && [ "$stamp" -nt setup.py ] && [ "$(cat "$stamp")" = "$requirement $PWD" ] && return
    python=$(find_python)
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        apt_install "$(basename "$(readlink -f "$(command -v "$python")")")-venv" || apt_install python3-venv
    fi
    say "rocdbg: setting up $folder (once; a minute or so)"
    "$python" -m venv --clear "$folder"
    "$folder/bin/python" -m pip install -q --disable-pip-version-check -e "$requirement"
    # an installation in place is not byte-compiled by pip; starting up would be slower by half
    "$folder/bin/python" -m compileall -q rocdbg plugins
    printf '%s\n' "$requirement $PWD" >"$stamp"
}
