#!/usr/bin/env bash
# Finds the commit that made an operation more expensive: proof/benches/guard/bisect.sh NAME [GOOD]
# NAME is a part of the operation's name, as `npm run guard` prints it. GOOD is a commit with the recorded cost; the default is
# the commit that wrote the recorded figures. The sources of each commit are measured with the guard of this checkout.
set -euo pipefail
cd "$(dirname "$0")/../../.."
name=${1:?the name of an operation, as npm run guard prints it}
good=${2:-$(git log -1 --format=%H -- proof/benches/guard/recorded.json)}
root=$PWD
tree=$(mktemp -d)/tree
trap 'git -C "$root" worktree remove --force "$tree"' EXIT
git worktree add --quiet --detach "$tree" HEAD
ln -s "$root/node_modules" "$tree/node_modules"
cd "$tree"
export GUARD=$root/proof/benches/guard NAME=$name

# Measures the commit that is checked out. Its status is 3 if the operation is more expensive than its recorded figures. It is a
# text, because git runs it by a shell that does not have the functions of this one.
measure='
  mkdir -p proof/benches/guard && cp "$GUARD"/* proof/benches/guard/
  status=0; node proof/benches/guard/main.ts --only "$NAME" || status=$?
  git checkout --quiet -- . && git clean --quiet -fd proof/benches/guard'

status=0
bash -c "$measure"'; exit $status' || status=$?
if [ "$status" -ne 3 ]; then
  echo "bisect: at HEAD the operation is not more expensive than its recorded figures (status $status)" >&2
  exit 1
fi
git bisect start HEAD "$good"
# A commit that cannot be measured is skipped.
git bisect run bash -c "$measure"'; case $status in 0) exit 0 ;; 3) exit 1 ;; *) exit 125 ;; esac'
