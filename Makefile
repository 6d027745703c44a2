# `make` builds build/rgc and the library. See README.md for the rest.
BUILD ?= build

.PHONY: all setup demo test bench clean
all: setup
	@ninja -C $(BUILD)

setup:
	@tools/setup $(BUILD)

clean:
	rm -rf $(BUILD)
