/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports SparkApplications that the webhook of the Spark operator rejects.
 * Source: internal/webhook/sparkapplication_validator.go,
 * sparkconf_validator.go and scheduledsparkapplication_validator.go at v2.5.2
 * (43afb8bb). Compared with v2.0.0, v2.0.2, v2.1.0, v2.1.1, v2.2.0, v2.2.1,
 * v2.3.0, v2.4.0, v2.5.0 and v2.5.1. The defaulting webhook runs first and
 * drops empty maps.
 */
#include "engine/rule.h"

#define APP	  "SparkApplication:spec"
#define BOTH	  "SparkApplication ScheduledSparkApplication"
#define SPECS	  APP " ScheduledSparkApplication:spec.template"
#define INGRESSES "owner.driverIngressOptions"
#define LATER	  ".matches('[$]|<|[{]{2}')"
#define NAMESPACE "spark.kubernetes.namespace"
#define GIVEN	  "self.sparkConf['" NAMESPACE "']"
#define OWN	  "object.metadata.namespace"

#define SELECTOR(id, role)                                                     \
	REJECTION(id, APP, role ".nodeSelector",                               \
		  "self.?nodeSelector.orValue({}).size() == 0 || self.?" role  \
		  ".nodeSelector.orValue({}).size() == 0",                     \
		  "'`nodeSelector` is set in `spec` and in `" role "`'")
/* Accepts any text that begins like Spark 3, such as 3.0.0-preview. */
#define TEMPLATE(id, role)                                                     \
	REJECTION(id, APP, role ".template",                                   \
		  "!self.?" role                                               \
		  ".template.hasValue() || self.sparkVersion" LATER            \
		  " || self.sparkVersion.matches('^v?([3-9]|[1-9][0-9])')",    \
		  "'`" role ".template` needs Spark 3.0.0, and `sparkVersion`" \
		  " is ' + self.sparkVersion",                                 \
		  .since = "2.1")
#define TWICE(id, key)                                                         \
	REJECTION(id, APP, key,                                                \
		  "!has(self." key ") || string(self." key ")" LATER           \
		  " || " INGRESSES ".filter(i, i.?" key                        \
		  ".orValue(null) == self." key ").size() == 1",               \
		  "'two of `driverIngressOptions` have the `" key              \
		  "` ' + string(self." key ")",                                \
		  .each = "driverIngressOptions")
#define CONF(id, key, help)                                                    \
	REJECTION(id, SPECS, "sparkConf[" key "]", "false",                    \
		  "'`sparkConf` sets `" key "`, " help "'", .since = "2.5.2")
#define TOKEN "a credential that the operator sets"

static const struct rejection items[] = {
	REJECTION("name", BOTH, "metadata.name",
		  "!has(self.metadata.name) || self.metadata.name" LATER
		  " || size(self.metadata.name) <= 63 && self.metadata.name"
		  ".matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
		  "'the name is not a DNS-1035 label'", .since = "2.4"),
	SELECTOR("driver-selector", "driver"),
	SELECTOR("executor-selector", "executor"),
	TEMPLATE("driver-template", "driver"),
	TEMPLATE("executor-template", "executor"),
	REJECTION("url", APP, "ingressURLFormat",
		  "self.?ingressURLFormat.orValue('') != ''",
		  "'`ingressURLFormat` is empty'",
		  .each = "driverIngressOptions", .absent = true),
	TWICE("url-twice", "ingressURLFormat"),
	TWICE("port-twice", "servicePort"),
	CONF("master", "spark.master", "which the operator sets"),
	CONF("driver-master", "spark.kubernetes.driver.master",
	     "which the operator sets"),
	CONF("image", "spark.kubernetes.container.image",
	     "which belongs in `image`"),
	CONF("driver-image", "spark.kubernetes.driver.container.image",
	     "which belongs in `driver.image`"),
	CONF("executor-image", "spark.kubernetes.executor.container.image",
	     "which belongs in `executor.image`"),
	CONF("driver-account",
	     "spark.kubernetes.authenticate.driver.serviceAccountName",
	     "which belongs in `driver.serviceAccount`"),
	CONF("executor-account",
	     "spark.kubernetes.authenticate.executor.serviceAccountName",
	     "which belongs in `executor.serviceAccount`"),
	CONF("token", "spark.kubernetes.authenticate.oauthToken", TOKEN),
	CONF("token-file", "spark.kubernetes.authenticate.oauthTokenFile",
	     TOKEN),
	CONF("driver-token", "spark.kubernetes.authenticate.driver.oauthToken",
	     TOKEN),
	CONF("driver-token-file",
	     "spark.kubernetes.authenticate.driver.oauthTokenFile", TOKEN),
	CONF("executor-token",
	     "spark.kubernetes.authenticate.executor.oauthToken", TOKEN),
	CONF("executor-token-file",
	     "spark.kubernetes.authenticate.executor.oauthTokenFile", TOKEN),
	REJECTION("namespace", SPECS, "sparkConf[" NAMESPACE "]",
		  GIVEN " == " OWN " || " GIVEN LATER " || " OWN LATER,
		  "'`sparkConf` sets `" NAMESPACE "` to ' + " GIVEN
		  " + ', but the object is in ' + " OWN,
		  .since = "2.5.2"),
	{0},
};

static const struct rejections rejections = {
	.by = "the Spark operator",
	.group = "sparkoperator.k8s.io",
	.version = "v1beta2",
	.items = items,
	.versions = "2.0 to 2.5",
	.component = OPERATOR_SPARK,
};

const struct rule rule_spark_rejects = {
	.name = "spark-rejects",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE,
	.summary = "a SparkApplication that the Spark operator rejects",
	.why = "The webhook of the Spark operator rejects fields that contradict each other, and settings in `sparkConf` that belong to the operator.",
	.evidence =
		"https://github.com/kubeflow/spark-operator/blob/v2.5.2/internal/webhook/sparkapplication_validator.go",
	.rejections = &rejections,
	.check_object = rule_check_rejections,
};
