#!/usr/bin/env bash
# inspect_ai's own suite over forkline, then trials with kills; `harnesses.sh COUNT`: how many (default: 2000).
# Build the far side first. As root, tests that a file's mode keeps one out fail, with inspect_ai's `local` too.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../python" || exit 1
bin=$PWD/../build/harness/bin
python3 -m venv "$PWD/../build/harness" &&
  "$bin/pip" install --quiet --disable-pip-version-check inspect_ai pytest pytest-asyncio hatchling -e . || exit 1
case $(uname -m) in
  aarch64) machine=arm64 ;;
  *) machine=x64 ;;
esac
export FORKLINE_FAR=${FORKLINE_FAR:-$PWD/../native/prebuilt/far-linux-$machine/forkline-far}
# Killed harnesses leave their directories behind.
TMPDIR=$(mktemp -d) || exit 1
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
"$bin/python" -m pytest -q -o asyncio_mode=auto -p no:cacheprovider tests/harnesses/inspect_ai_check.py
status=$?
"$bin/python" tests/harnesses/trials.py "${1:-2000}" forkline 1 || status=1
exit "$status"
