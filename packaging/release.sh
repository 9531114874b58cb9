#!/usr/bin/env bash
# Makes a release of the commit that is checked out.
#   packaging/release.sh VERSION             check, test, set the version, commit, tag
#   packaging/release.sh --dry-run VERSION   checks, and says what would be done
# Refused: a working tree that is not clean, another branch than main, a version that is not newer, an existing tag, a
# change log without news, broken links, failing tests. Nothing is published: push the commit and the tag, then
# "./muster package". RELEASE_TEST names another command than "./muster test"; RELEASE_DATE another day than today.
set -euo pipefail
cd "$(dirname "$0")/.."
die() { printf 'release: %s\n' "$*" >&2; exit 1; }
say() { printf 'release: %s\n' "$*"; }

dry=
[ "${1:-}" != --dry-run ] || { dry=1; shift; }
version=${1:-}
[ $# = 1 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
[[ "$version" =~ ^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$ ]] || die "$version is no version like 1.2.3"
day=${RELEASE_DATE:-$(date +%F)}

own=model/src/main/java/dev/muster/model/Release.java
current=$(sed -n 's:.*<version>\([0-9.]*\)</version>.*:\1:p' pom.xml | head -1)
grep -q "OWN = \"$current\"" "$own" || die "$own has another version than pom.xml ($current)"
[ -z "$(git status --porcelain)" ] || die "the working tree is not clean"
[ "$(git rev-parse --abbrev-ref HEAD)" = main ] || die "releases are made from main"
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || die "tag v$version exists"
# the first release may have the version that the tree has already
newest=$(printf '%s\n%s\n' "$current" "$version" | sort -V | tail -1)
{
  [ "$newest" = "$version" ] && { [ "$version" != "$current" ] || [ -z "$(git tag --list 'v*')" ]; }
} || die "$version is not newer than $current"
news=$(awk '/^## \[Unreleased\]/ { on = 1; next } /^## / { on = 0 } on && /^\* /' CHANGELOG.md)
[ -n "$news" ] || die "CHANGELOG.md has no news under [Unreleased]"
python3 -B packaging/docs/docs.py check >/dev/null || die "links are broken: packaging/docs/docs.py check"

if [ -n "$dry" ]; then
  say "checks passed; would run: ${RELEASE_TEST:-./muster test}"
  say "would set version $current -> $version in $(git ls-files '*pom.xml' | wc -l) pom.xml and $own"
  say "would close [Unreleased] of CHANGELOG.md as [$version] - $day, $(printf '%s\n' "$news" | wc -l) lines of news"
  say "would commit and tag v$version"
  exit 0
fi

say "testing ..."
${RELEASE_TEST:-./muster test} || die "tests failed"
[ -z "$(git status --porcelain)" ] || die "the tests changed the working tree"
git ls-files '*pom.xml' | while read -r pom; do
  # the version of the project and of its parent, and no other
  sed -i -e "/<artifactId>muster<\/artifactId>/s:<version>$current</version>:<version>$version</version>:" \
    -e "1,/<version>/s:<version>$current</version>:<version>$version</version>:" "$pom"
done
sed -i "s/OWN = \"$current\"/OWN = \"$version\"/" "$own"
sed -i "s/^## \[Unreleased\]$/## [Unreleased]\n\n## [$version] - $day/" CHANGELOG.md
git commit -qam "release: $version"
git tag -a "v$version" -m "Muster $version

$news"
say "v$version is committed and tagged. Next: git push origin main v$version, then ./muster package"
