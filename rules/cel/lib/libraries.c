/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of Kubernetes 1.37 (apiserver pkg/cel/environment/base.go):
 * every library that it enables.
 */
#include "rules/cel/lib/lib_internal.h"

const struct cel_overload *const cel_libraries[] = {
	cel_operators_library,
	cel_conversions_library,
	cel_strings_library,
	cel_format_text_library,
	cel_regex_library,
	cel_lists_library,
	cel_aggregates_library,
	cel_optionals_library,
	cel_times_library,
	cel_time_fields_library,
	cel_urls_library,
	cel_addresses_library,
	cel_quantities_library,
	cel_semver_library,
	cel_named_formats_library,
	cel_authorizer_library,
	NULL,
};
