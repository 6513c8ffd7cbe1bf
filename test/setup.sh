#!/usr/bin/env bash
# Installs what the lab test needs: real servers from Debian packages, none of which is started here; and the browser
# of the tests in test/browser.
#
#   npm run setup:test              install what is missing (root, Debian 12)
#   bash test/setup.sh --check      only say what the lab test misses; exit 1 when something is (any user)
#
# Does nothing when all is there. Environment: PORTOLAN_LAB_CACHE, the folder of the unpacked packages.
set -euo pipefail
export PATH="$PATH:/usr/sbin:/sbin" LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${PORTOLAN_LAB_CACHE:-/var/cache/portolan-lab}
policy=/usr/sbin/policy-rc.d
saved_policy=

say() { echo "setup:test: $*"; }
fail() { say "$*" >&2; exit 1; }

# listed KIND: the packages of that kind in packages.txt
listed() { awk -v kind="$1" '$1 == kind { print $2 }' "$here/lab/packages.txt"; }

is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
is_unpacked() { [ -s "$cache/$1/.version" ]; }

# missing KIND...: of the packages that are installed, those of the kinds; and all that are unpacked
missing() {
  local name kind
  for kind in "$@"; do
    for name in $(listed "$kind"); do is_installed "$name" || echo "$name"; done
  done
  for name in $(listed unpack); do is_unpacked "$name" || echo "$name"; done
}

require_debian_12() {
  local id version
  id=$(. /etc/os-release 2>/dev/null && echo "${ID:-}")
  version=$(. /etc/os-release 2>/dev/null && echo "${VERSION_ID:-}")
  [ "$id $version" = "debian 12" ] ||
    fail "the lab test needs Debian 12, this is ${id:-an unknown system} ${version}. Every other test runs without it: npm test"
}

# Packages start their daemons when they are installed, unless policy-rc.d forbids it (exit status 101).
forbid_daemon_start() {
  if [ -e "$policy" ]; then
    saved_policy=$(mktemp "$policy.saved-XXXXXX")
    mv "$policy" "$saved_policy"
  fi
  trap restore_policy EXIT
  trap 'exit 130' INT TERM HUP
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
}

restore_policy() {
  rm -f "$policy"
  if [ -n "$saved_policy" ]; then mv "$saved_policy" "$policy"; fi
}

apt() { DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 "$@"; }

# quietly COMMAND...: its output is shown only when it fails
quietly() {
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 </dev/null || status=$?
  [ "$status" = 0 ] || tail -n 30 "$log" >&2
  rm -f "$log"
  return "$status"
}

install_missing() {
  local name wanted=()
  for name in $(listed install) $(listed browser); do is_installed "$name" || wanted+=("$name"); done
  [ "${#wanted[@]}" -gt 0 ] || return 0
  say "installing ${wanted[*]}"
  # --no-remove: a mail or FTP server that this machine already has is not ours to take away
  quietly apt install -y --no-install-recommends --no-remove "${wanted[@]}" ||
    fail "apt-get install failed (its last lines are above)"
}

unpack_missing() {
  local name stage
  for name in $(listed unpack); do
    is_unpacked "$name" && continue
    say "unpacking $name"
    stage=$(mktemp -d)
    chmod 777 "$stage" # apt downloads as the user _apt
    (cd "$stage" && quietly apt download "$name") || { rm -rf "$stage"; fail "apt-get download $name failed"; }
    rm -rf "${cache:?}/$name"
    mkdir -p "$cache/$name"
    dpkg-deb -x "$stage/$name"_*.deb "$cache/$name"
    dpkg-deb -f "$stage/$name"_*.deb Version >"$cache/$name/.version"
    rm -rf "$stage"
  done
}

case "${1:-}" in
  '') ;;
  --check)
    absent=$(missing install | tr '\n' ' ')
    [ -z "$absent" ] || fail "missing: ${absent% }"
    exit 0
    ;;
  *) fail "unknown argument $1; usage: test/setup.sh [--check]" ;;
esac

require_debian_12
if [ -z "$(missing install browser)" ]; then
  say "all packages are there"
  exit 0
fi
[ "$(id -u)" = 0 ] || fail "needs root to install packages: run it as root (for example with sudo)"

exec 9>/run/portolan-setup-test.lock
flock 9 # a second run waits, so that policy-rc.d is put back once

forbid_daemon_start
quietly apt update || fail "apt-get update failed (its last lines are above)"
install_missing
unpack_missing
absent=$(missing install browser | tr '\n' ' ')
[ -z "$absent" ] || fail "still missing: ${absent% }"
say "done"
