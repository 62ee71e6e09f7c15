#!/usr/bin/env bash
# The Python package: format, lint, types and tests, and a wheel of this machine that is installed and tried. The
# far side has to be built before (npm run build:far). The last line is 'N passed, N failed'.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../python" || exit 1
venv=$PWD/../build/python
bin=$venv/bin
passed=0
failed=0

check() {
  local name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed: Python: $name"
  fi
}

make_venv() {
  python3 -m venv "$venv" 2>/dev/null ||
    { [ "$(id -u)" = 0 ] && apt-get install -y -qq python3-venv >/dev/null && python3 -m venv "$venv"; } || return
  "$bin/pip" install --quiet --disable-pip-version-check 'hatchling>=1.26' hypothesis pyright pytest ruff
}

machine() {
  case $(uname -m) in
    aarch64) echo arm64 ;;
    *) echo x64 ;;
  esac
}

# A wheel, installed where nothing else is, runs a command with the binary that is in it.
wheel() {
  local place status
  place=$(mktemp -d) || return
  FORKLINE_WHEEL=$(machine) "$bin/hatchling" build -t wheel -d "$place" &&
    python3 -m venv "$place/venv" && "$place/venv/bin/pip" install --quiet --disable-pip-version-check "$place"/*.whl &&
    (cd "$place" && env -u FORKLINE_FAR "$place/venv/bin/python" -c '
from forkline.blocking import connect
with connect() as far:
    assert far.run("echo from a wheel").output == "from a wheel\n"')
  status=$?
  rm -rf "$place"
  return "$status"
}

far=$PWD/../native/prebuilt/far-linux-$(machine)/forkline-far
if [ ! -x "$far" ]; then
  echo 'skipped: the Python package: the far side without Node is not built: npm run build:far'
  echo '0 passed, 0 failed'
  exit 0
fi
make_venv || { echo 'failed: Python: its environment'; echo '0 passed, 1 failed'; exit 1; }
check format "$bin/ruff" format --check --quiet .
check lint "$bin/ruff" check --quiet .
check types "$bin/pyright" --pythonpath "$bin/python"
check wheel wheel
log=$(mktemp)
"$bin/python" -m pytest -q -p no:cacheprovider 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
ran=$(grep -oE '[0-9]+ passed' "$log" | tail -n 1 | cut -d ' ' -f 1)
broke=$(grep -oE '[0-9]+ (failed|error)' "$log" | tail -n 1 | cut -d ' ' -f 1)
rm -f "$log"
[ "$status" -eq 0 ] || broke=${broke:-1}
passed=$((passed + ${ran:-0}))
failed=$((failed + ${broke:-0}))
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
