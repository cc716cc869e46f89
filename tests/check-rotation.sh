#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Certificates and CAs swapped under load, and files put in place that
# cannot be used. usage: check-rotation.sh BUILD
# ROTATION_SECONDS=120 is the long run (30 by default).
exec "$(dirname "$0")/check-reliability.sh" "$1" rotation broken
