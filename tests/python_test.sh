#!/bin/sh
# A suite of the Python package. SPDX-License-Identifier: Apache-2.0
#   python_test.sh PACKAGES FOLDER TEST.py [MODULE]...     PACKAGES: the folder with retrograd/ in it; MODULEs: what the suite imports
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
packages=$1
test=$2/$3
shift 3
python=$("$root/tools/python_env" 2>/dev/null) || { echo "no Python environment for tests (tools/python_env install)"; exit 77; }
for module in numpy "$@"; do
    "$python" -c "import importlib.util, sys; sys.exit(not importlib.util.find_spec('$module'))" || { echo "no Python module $module"; exit 77; }
done
export PYTHONPATH="$packages" PYTHONDONTWRITEBYTECODE=1
"$python" "$test" >"${TMPDIR:-/tmp}/python_test.$$" 2>&1
status=$?
cat "${TMPDIR:-/tmp}/python_test.$$"
# unittest says "Ran N tests"; "FAILED (failures=A, errors=B)"
awk '/^Ran [0-9]+ tests?/ { ran = $2 } /^FAILED/ { while (match($0, /(failures|errors)=[0-9]+/)) { split(substr($0, RSTART, RLENGTH), n, "="); bad += n[2]; $0 = substr($0, RSTART + RLENGTH) } }
     END { if (ran) printf "%d passed, %d failed\n", ran - bad, bad }' "${TMPDIR:-/tmp}/python_test.$$"
rm -f "${TMPDIR:-/tmp}/python_test.$$"
exit $status
