/* SPDX-License-Identifier: Apache-2.0 */
/* MIG profiles, and the products in node labels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "kube/accelerator.h"
#include "kube/scheduling/node_devices.h"
#include "rules/kube/data.h"

static void same(const char *what, const char *got, const char *want)
{
	if (!got != !want || (got && strcmp(got, want)))
		fail_msg("%s: %s, not %s", what, got ? got : "none",
			 want ? want : "none");
}

static void products_have_a_largest_number(void **state)
{
	(void)state;
	assert_int_equal(mig_product_most("NVIDIA-GB300"), 4);
	assert_int_equal(mig_product_most("nvidia-gb200"), 4);
	assert_int_equal(mig_product_most("NVIDIA-GB200-SHARED"), -1);
	assert_int_equal(mig_product_most("NVIDIA-GB200X"), -1);
	assert_int_equal(mig_product_most("NVIDIA-H100-NVL"), -1);
}

static void products_have_their_profiles(void **state)
{
	static const char gfd[] = "nvidia.com/gpu.product";
	static const char gke[] = "cloud.google.com/gke-accelerator";
	static const char instance[] = "node.kubernetes.io/instance-type";
	static const char *const rows[][3] = {
		{gfd, "NVIDIA-A100-SXM4-40GB", "A100-40GB"},
		{gfd, "NVIDIA-A100-80GB-PCIe", "A100-80GB"},
		{gfd, "NVIDIA-A100-SXM4-80GB-SHARED", "A100-80GB"},
		{gfd, "NVIDIA-H100-80GB-HBM3", "H100-80GB"},
		{gfd, "NVIDIA-H100-NVL", "H100-NVL"},
		{gfd, "NVIDIA-B200", "B200"},
		{gfd, "NVIDIA-GB200", "GB200"},
		/* products whose profiles depend on the memory size */
		{gfd, "NVIDIA-H200", "H200"},
		{gfd, "NVIDIA-A30", "A30"},
		{gfd, "NVIDIA-GH200-480GB", "GH200-480GB"},
		{gfd, "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", NULL},
		{gfd, "Tesla-T4", "T4"},
		{gfd, "", NULL},
		{gke, "nvidia-a100-80gb", "A100-80GB"},
		{gke, "nvidia-l4", "L4"},
		{gke, "nvidia-unheard-of", NULL},
		{instance, "p4d.24xlarge", "A100-40GB"},
		{instance, "g4dn.xlarge", "T4"},
		{instance, "m5.large", NULL},
		{instance, "unheard-of", NULL},
		{"example.com/pool", "NVIDIA-B200", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		same(rows[i][1], mig_product_of(rows[i][0], rows[i][1]),
		     rows[i][2]);
}

/* Products in GKE's values are names in the table of profiles. */
static void products_of_labels_are_in_the_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < data_label_values_n; i++) {
		const char *product = data_label_values[i].product;
		bool found = !product;

		for (size_t p = 0; p < data_mig_profiles_n && !found; p++)
			found = !strcmp(data_mig_profiles[p].product, product);
		assert_true(found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_have_a_largest_number),
		cmocka_unit_test(products_have_their_profiles),
		cmocka_unit_test(products_of_labels_are_in_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
