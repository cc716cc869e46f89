# SPDX-License-Identifier: Apache-2.0
# make wheel          a Python wheel with the executable, in $(BUILD)/dist
# make sdist          the source distribution for pip, in $(BUILD)/dist

.PHONY: wheel sdist
wheel: all
	@mkdir -p $(BUILD)/dist
	$(Q)strip -o $(BUILD)/dist/gpugate $(BUILD)/gpugate
	$(Q)GPUGATE_BINARY=$(BUILD)/dist/gpugate \
		python3 deploy/python/gpugate_build.py wheel $(BUILD)/dist

sdist:
	$(Q)python3 deploy/python/gpugate_build.py sdist $(BUILD)/dist

include deploy/release/release.mk
