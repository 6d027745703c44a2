#!/bin/sh
# The example of MPI: the gradient of one rank is that of central differences, that of four ranks is that of one.
#   mpi_test.sh ROOT LIBRETROGRAD.SO
command -v mpicc >/dev/null && command -v mpirun >/dev/null || { echo "MPI is missing"; exit 77; }
root=$(realpath "$1")
lib=$(dirname "$(realpath "$2")")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# MPI itself keeps memory until the process ends
export ASAN_OPTIONS=detect_leaks=0 OMP_NUM_THREADS=1
# shellcheck disable=SC2086
mpicc $RG_TEST_CFLAGS -std=c11 -Wall -Wextra -Werror "$root/examples/mpi/main.c" "$root/examples/mpi/part.c" -I"$root/include" -L"$lib" -lretrograd -lm \
    -Wl,-rpath,"$lib" -o wave || exit 1
# the one by the Open MPI project does not start more ranks than cores, nor as root, without being told to
options=
mpirun --version | grep -q "Open MPI" && options="--oversubscribe --allow-run-as-root"
./wave "$root/examples/mpi/wave.c" --write one --differences || exit 1
# shellcheck disable=SC2086
mpirun $options -n 4 ./wave "$root/examples/mpi/wave.c" --against one </dev/null
