# SPDX-License-Identifier: Apache-2.0
# Test, bench, packaging and install targets (included by the Makefile).
