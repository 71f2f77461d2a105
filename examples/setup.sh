# Installs what a build needs, when it is missing. Sourced by examples/quickstart and tests/run.
# For Debian 12; elsewhere install the same things by hand and the check below is satisfied.

jarvis_program_packages="g++ cmake ninja-build pkg-config nlohmann-json3-dev libsimdjson-dev
  libfmt-dev libisal-dev libexpected-dev libxxhash-dev liblua5.4-dev
  libcpp-httplib-dev libssl-dev libzip-dev libarchive-dev libpugixml-dev librsvg2-dev libpcre2-dev libsqlite3-dev
  python3"
jarvis_test_packages="$jarvis_program_packages doctest-dev zlib1g-dev clang-format
  python3-openpyxl libreoffice-calc-nogui python3-torch jq curl unzip zstd file dpkg-dev man-db groff-base
  slurmctld slurmd slurm-client munge chromium fonts-dejavu-core shellcheck"
# Node from elsewhere than Debian brings npm along, and Debian's npm conflicts with it.
command -v npm >/dev/null || jarvis_test_packages="$jarvis_test_packages nodejs npm"

# jarvis_install PACKAGE...: quick when nothing is missing.
jarvis_install() {
  local package missing="" root=""
  if ! command -v dpkg-query >/dev/null; then
    echo "setup: no dpkg here; make sure that these are installed: $*" >&2
    return 0
  fi
  for package in "$@"; do
    if ! dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed; then
      missing="$missing $package"
    fi
  done
  [ -z "$missing" ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "setup: these packages are missing, and neither root nor sudo is here:$missing" >&2
      return 1
    fi
    root=sudo
  fi
  echo "setup: installing$missing"
  # shellcheck disable=SC2086
  $root env DEBIAN_FRONTEND=noninteractive apt-get -qq update &&
    $root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
      install $missing >/dev/null
}

# jarvis_jobs: one a core, but not more than one for each 1.5 GB of memory.
jarvis_jobs() {
  local cores memory
  cores=$(nproc 2>/dev/null || echo 2)
  memory=$(awk '/^MemTotal/ {print int($2 / 1500000)}' /proc/meminfo 2>/dev/null || echo "$cores")
  [ "${memory:-0}" -lt 1 ] && memory=1
  [ "$cores" -lt "$memory" ] && echo "$cores" || echo "$memory"
}
