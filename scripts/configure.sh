#!/usr/bin/env bash
# configure.sh PRESET [cmake arguments...]: scripts/setup.sh's configure, for programs that are not shell.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/setup.sh
configure "$@"
