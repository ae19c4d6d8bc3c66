#!/usr/bin/env bash
# Finds the commit that made an operation dearer: bench/guard/bisect.sh NAME [GOOD]
# NAME is a part of the operation's name in `npm run guard`; GOOD is where it was as landed, by default the commit that
# wrote the figures down. The sources of each commit are measured with the guard and the figures of this checkout.
set -euo pipefail
cd "$(dirname "$0")/../.."
name=${1:?the name of an operation, as npm run guard prints it}
good=${2:-$(git log -1 --format=%H -- bench/guard/landed.json)}
root=$PWD
tree=$(mktemp -d)/tree
trap 'git -C "$root" worktree remove --force "$tree"' EXIT
git worktree add --quiet --detach "$tree" HEAD
ln -s "$root/node_modules" "$tree/node_modules"
cd "$tree"
git bisect start HEAD "$good"
export GUARD=$root/bench/guard NAME=$name
# 3 is dearer; anything else but 0 says nothing about this commit, which is skipped.
git bisect run bash -c '
  cp "$GUARD"/* bench/guard/ 2>/dev/null || { mkdir -p bench/guard && cp "$GUARD"/* bench/guard/; }
  status=0; node bench/guard/main.ts --only "$NAME" || status=$?
  git checkout --quiet -- . && git clean --quiet -fd bench/guard
  case $status in 0) exit 0 ;; 3) exit 1 ;; *) exit 125 ;; esac'
