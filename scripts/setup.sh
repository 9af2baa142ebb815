# Shell functions of ./run and ./test: what the machine needs, and how a preset is configured. Sourced, not run.
#
#     . scripts/setup.sh
#     install_missing "${run_packages[@]}"
#     configure release -DREPRISE_TESTS=OFF

# To build and run the server. docs/dependencies.md says what each is for.
run_packages=(
  clang-19 lld-19 ccache cmake ninja-build
  libboost1.81-dev librocksdb-dev libsimdjson-dev node-llhttp libssl-dev
  libspdlog-dev libfmt-dev libcli11-dev libjemalloc-dev libre2-dev libarchive-dev
  chromium-headless-shell
)
# To test it as well.
test_packages=(
  clang-tidy-19 clang-format-19 libclang-rt-19-dev
  libgtest-dev libgmock-dev libbenchmark-dev valgrind openssl curl git
)

say() { printf '== %s\n' "$*" >&2; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

is_installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Installs those of the named packages that are missing; without any, it neither needs root nor the network.
install_missing() {
  local package missing=()
  command -v dpkg-query >/dev/null || die "this needs Debian 12: there is no dpkg-query. On another system, install what docs/dependencies.md names and follow docs/building.md"
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0

  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || die "missing packages and neither root nor sudo. As root: apt-get install --no-install-recommends ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq </dev/null ||
    die "apt-get update failed: is the network there?"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "${missing[@]}" </dev/null ||
    die "apt-get could not install: ${missing[*]}"
}

# The devtools page is built by node, and the tests are run by it: 18 or newer; one from outside Debian's packages will do.
install_node() {
  local major
  major=$(node --version 2>/dev/null | sed -n 's/^v\([0-9]*\)\..*/\1/p')
  [ "${major:-0}" -ge 18 ] || install_missing nodejs
  command -v npm >/dev/null || install_missing npm
}

# Sanitizers name functions, and match suppressions by them, only with a symbolizer; any version will do.
install_symbolizer() {
  command -v llvm-symbolizer llvm-symbolizer-19 >/dev/null || install_missing llvm-19
}

# configure PRESET [cmake arguments...]: makes build/PRESET once. Ninja itself configures again when a CMake file
# has changed. A cache made at another path (a copied or moved tree) is thrown away.
configure() {
  local preset=$1 cache="build/$1/CMakeCache.txt"
  shift
  if [ -f "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$cache"; then
    say "build/$preset belongs to another directory: starting over"
    rm -rf "build/$preset"
  fi
  if [ ! -f "build/$preset/build.ninja" ] || ! has_settings "$cache" "$@"; then
    say "configuring build/$preset"
    mkdir -p build
    cmake --preset "$preset" "$@" >"build/$preset.configure.log" 2>&1 ||
      { cat "build/$preset.configure.log" >&2; die "cmake --preset $preset failed"; }
  fi
}

# Whether a CMake cache already holds these -DNAME=VALUE settings.
has_settings() {
  local cache=$1 setting
  shift
  for setting in "$@"; do
    setting=${setting#-D}
    grep -q "^${setting%%=*}:[A-Z]*=${setting#*=}\$" "$cache" || return 1
  done
}
