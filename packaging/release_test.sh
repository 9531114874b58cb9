#!/usr/bin/env bash
# Tests release.sh on a clone of this repository: its refusals, its dry run, its release.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
fails=0
check() {
  if [ "$2" = "$3" ]; then echo "ok   $1"; else echo "FAIL $1: expected '$2', got '$3'"; fails=$((fails+1)); fi
}
match() {
  if [[ "$3" =~ $2 ]]; then echo "ok   $1"; else echo "FAIL $1: '$3' does not match '$2'"; fails=$((fails+1)); fi
}

# a small tree of the files that it reads, with a history of its own
mkdir "$dir/r"; cd "$dir/r"
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@localhost GIT_COMMITTER_NAME=t \
  GIT_COMMITTER_EMAIL=t@localhost
git init -q -b main .
(cd "$here"; tar -cf - pom.xml */pom.xml model/src/main/java/dev/muster/model/Release.java packaging/release.sh \
    packaging/docs/docs.py) | tar -xf -
printf '# Change log\n\n## [Unreleased]\n\n### Added\n\n* A thing.\n' > CHANGELOG.md
mkdir -p docs; echo '# Book' > docs/README.md; echo /build > .gitignore
git add -A; git commit -qm first
old=$(sed -n 's:.*<version>\([0-9.]*\)</version>.*:\1:p' pom.xml | head -1)
release() { RELEASE_TEST=${tests:-true} RELEASE_DATE=2027-01-02 bash packaging/release.sh "$@" 2>&1 || echo "rc $?"; }

match "what is no version" "1.2 is no version like 1.2.3" "$(release 1.2)"
match "an older version" "0.0.1 is not newer than $old" "$(release 0.0.1)"
match "a dry run says what it would do" "would commit and tag v99.0.0" "$(release --dry-run 99.0.0)"
check "and does nothing" "1 $old" \
  "$(git rev-list --count HEAD) $(sed -n 's:.*<version>\([0-9.]*\)</version>.*:\1:p' pom.xml | head -1)"
echo x > x
match "a tree that is not clean" "the working tree is not clean" "$(release 99.0.0)"
rm x
git checkout -q -b other
match "another branch" "releases are made from main" "$(release 99.0.0)"
git checkout -q main
match "tests that fail" "tests failed" "$(tests=false release 99.0.0)"
match "a release" "v99.0.0 is committed and tagged" "$(release 99.0.0)"
check "sets the version in each pom, once" "$(git ls-files '*pom.xml' | wc -l)" \
  "$(git grep -c '99\.0\.0' -- '*pom.xml' | grep -c ':1$')"
check "and in the code" 1 "$(grep -c 'OWN = "99.0.0"' model/src/main/java/dev/muster/model/Release.java)"
check "leaves no old one" "" "$(git grep -n "<version>$old</version>" -- '*pom.xml' || true)"
check "dates the change log" "## [Unreleased]|## [99.0.0] - 2027-01-02" "$(grep '^## ' CHANGELOG.md | paste -sd'|')"
check "tags the commit with the news" "* A thing." "$(git tag -l --format='%(contents)' v99.0.0 | grep '^\*')"
check "and leaves the tree clean" "" "$(git status --porcelain)"
match "a second one of it" "tag v99.0.0 exists" "$(release 99.0.0)"
match "one without news" "CHANGELOG.md has no news" "$(release 99.0.1)"
[ "$fails" = 0 ]
