# `make` builds build/rgc and the library; `make demo`, `make test`, `make bench` need nothing before
# them. Missing tools are installed on Debian and its like when root asks; otherwise they are named.
BUILD ?= build

.PHONY: all setup demo test quick fuzz bench clean
all: setup
	@ninja -C $(BUILD)

setup:
	@tools/setup $(BUILD)

# a soft robot learns to walk; pictures in out/demo
demo: setup
	@ninja -C $(BUILD) --quiet rgc examples/demo
	@mkdir -p out/demo
	@$(BUILD)/examples/demo out/demo

# every suite; the last line counts, what was skipped stands before it
test:
	@tools/setup $(BUILD) tests
	@tools/test $(BUILD)

# what a change needs while it is made: under a minute
quick: setup
	@tools/test --suite quick $(BUILD)

# strangers' input to a reader: HARNESS=ir (IR text), npy (and .npz), cli (words of rgc run), c; SECONDS=60
fuzz:
	@tools/fuzz $(or $(HARNESS),ir) $(or $(SECONDS),60)

# primal, gradient, and the adjoint written by hand; threads side by side, on one core and on two (PROBE: a program
# with times of its own, see bench/lanes.c); then derivatives over primals of the GradBench suite
# (INPUTS: a folder of its inputs, else made ones); then loops on our threads and on OpenMP's; then kernels that the
# compiler was not tuned for, beside a C compiler and adjoints by hand
bench:
	@tools/setup $(BUILD) clang
	@ninja -C $(BUILD) --quiet bench/bench bench/lanes bench/threads
	@ninja -C $(BUILD) --quiet bench/gradbench/gradbench bench/unseen/unseen
	@OMP_NUM_THREADS=1 $(BUILD)/bench/bench
	@OMP_NUM_THREADS=1 $(BUILD)/bench/lanes $(if $(PROBE),--probe $(PROBE))
	@OMP_NUM_THREADS=2 $(BUILD)/bench/lanes --only gradients
	@OMP_NUM_THREADS=2 $(BUILD)/bench/lanes --only forward
	@OMP_NUM_THREADS=1 $(BUILD)/bench/gradbench/gradbench --ratios $(INPUTS)
	@$(BUILD)/bench/threads
	@OMP_NUM_THREADS=1 $(BUILD)/bench/unseen/unseen

clean:
	rm -rf $(BUILD) out
