# SPDX-License-Identifier: Apache-2.0
# make release         all files of a release, in $(BUILD)/release; see README.md
# make release-native  the files for this machine's architecture
# make release-cross   the linter for RELEASE_SYSTEMS
# make publish-check   lists the settings that a publisher still has to make
# make publish         OWNER=NAME: writes the name instead of the placeholder

RELEASE_DIR := $(BUILD)/release
RELEASE_WORK := $(BUILD)/release-work
RELEASE_ARCH = $(shell dpkg --print-architecture)
RELEASE_STAGE = $(RELEASE_WORK)/stage
# The publisher (none yet), the address of the published files, and the
# maintainer of the Debian packages.
OWNER ?= OWNER
RELEASE_URL ?= https://github.com/$(OWNER)/gpugate
MAINTAINER ?= gpugate maintainers <maintainers@gpugate.dev>

# The release does not depend on the time, the folder or the language: times are
# those of the commit, and paths are relative.
RELEASE_CFLAGS := -O2 -ffile-prefix-map=$(CURDIR)=.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
RELEASE_ENV = LC_ALL=C TZ=UTC SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) \
	VERSION=$(VERSION) COMMIT=$(COMMIT) RELEASE_URL=$(RELEASE_URL) \
	MAINTAINER='$(MAINTAINER)' RELEASE_DIR=$(RELEASE_DIR) \
	STAGE=$(RELEASE_STAGE) GPUGATE_SHARE=$(RELEASE_STAGE)/usr/share
release_run = $(Q)$(RELEASE_ENV)

# For `make release`, in addition to the build's dependencies.
RELEASE_DEPS := python3 python3-venv dpkg-dev xz-utils
.PHONY: release-deps
release-deps: deps
	$(call install,$(RELEASE_DEPS))

RELEASE_SYSTEMS ?= linux-arm64 darwin-arm64 darwin-amd64

.PHONY: release release-native release-cross release-stage release-sums
release: release-native
	@$(MAKE) --no-print-directory release-cross
	$(release_run) deploy/release/krew.sh >$(RELEASE_DIR)/gpugate.yaml
	$(release_run) deploy/release/pack.sh deploy/chart gpugate \
		$(RELEASE_DIR)/gpugate-$(VERSION).tgz
	@$(MAKE) --no-print-directory release-sums

release-cross: $(RELEASE_SYSTEMS:%=release-%)
.PHONY: $(RELEASE_SYSTEMS:%=release-%)
# The executable for this machine prints the manual pages and completions of all.
$(RELEASE_STAGE)/usr/bin/gpugate:
	@$(MAKE) --no-print-directory release-stage
$(RELEASE_SYSTEMS:%=release-%): release-%: | $(RELEASE_STAGE)/usr/bin/gpugate
	$(say) CROSS $*
	$(release_run) deploy/release/cross.sh $* $(RELEASE_WORK)

release-native: release-stage
	$(say) PACK linux-$(RELEASE_ARCH)
	$(release_run) deploy/release/tarball.sh linux-$(RELEASE_ARCH) \
		$(RELEASE_STAGE)/usr/bin/gpugate $(RELEASE_WORK)/licenses
	$(say) DEB linux-$(RELEASE_ARCH)
	$(release_run) deploy/packaging/deb.sh
	$(say) IMAGE linux-$(RELEASE_ARCH)
	$(release_run) deploy/release/images.sh linux-$(RELEASE_ARCH)
	$(say) WHEEL linux-$(RELEASE_ARCH)
	$(release_run) GPUGATE_BINARY=$(RELEASE_STAGE)/usr/bin/gpugate \
		GPUGATE_LICENSES=$(RELEASE_WORK)/licenses \
		python3 deploy/python/gpugate_build.py wheel $(RELEASE_DIR)

# Installs both programs and their files, as `make install` does.
release-stage:
	@rm -rf $(RELEASE_STAGE) $(RELEASE_DIR)
	@mkdir -p $(RELEASE_DIR)
	@$(MAKE) --no-print-directory install BUILD=$(RELEASE_WORK) \
		DESTDIR=$(abspath $(RELEASE_STAGE)) PREFIX=/usr \
		CFLAGS='$(RELEASE_CFLAGS)'
	$(Q)strip -R .comment $(RELEASE_STAGE)/usr/bin/gpugate $(RELEASE_STAGE)/usr/bin/gpugated
	$(Q)deploy/release/licenses.sh $(RELEASE_WORK)/licenses \
		/usr/share/doc/*/copyright

release-sums:
	$(say) SUM $(RELEASE_DIR)/SHA256SUMS
	$(Q)cd $(RELEASE_DIR) && rm -f SHA256SUMS && \
		find . -type f -printf '%P\n' | LC_ALL=C sort | \
		xargs sha256sum >../SHA256SUMS && mv ../SHA256SUMS .

.PHONY: publish publish-check
publish:
	@[ "$(OWNER)" != OWNER ] || { echo 'publish: OWNER= is not set' >&2; exit 2; }
	sed -i 's|^OWNER ?=.*|OWNER ?= $(OWNER)|' deploy/release/release.mk
	sed -i '/^`OWNER` is /,/^$$/d; s|OWNER/gpugate@main|$(OWNER)/gpugate@v$(VERSION)|' \
		deploy/ci/README.md
publish-check:
	@$(RELEASE_ENV) OWNER='$(OWNER)' DOCS_URL='$(DOCS_URL)' \
		deploy/release/publish-check.sh
