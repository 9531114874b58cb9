#!/usr/bin/env bash
# Whether licenses/third-party.txt names what an installation holds of others: licenses_test.sh PREFIX.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
held=$(cd "${1:?PREFIX}/lib/muster/jars" && find . -name '*-[0-9]*.jar' -printf '%f\n' \
  | sed 's/-\([0-9][0-9.]*\)\.jar$/ \1/' | sort -u)
named=$(sed '/^#/d' "$here/licenses/third-party.txt" \
  | awk -F'|' '{gsub(/ /, "", $1); gsub(/ /, "", $2); print $1, $2}' | sort -u)
if [ "$held" != "$named" ]; then
  echo "FAIL third-party.txt names other libraries than the installation holds (<: named only, >: held only)"
  diff <(echo "$named") <(echo "$held") || true
  exit 1
fi
[ "$(find "$1/share/muster/licenses" -type f | wc -l)" -ge 4 ] || {
  echo "FAIL the texts of licenses are not installed"
  exit 1
}
echo "ok   $(wc -l <<< "$held") libraries of others are named with their licenses"
