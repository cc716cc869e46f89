/* SPDX-License-Identifier: Apache-2.0 */
/* Recognizes images that need no accelerator by their names. */
#include <string.h>

#include "base/text.h"
#include "kube/purpose/purpose.h"

/* Finds the last part of the name; returns its length without tag and
 * digest. */
static size_t image_base(const char *image, const char **base)
{
	const char *slash = strrchr(image, '/');

	*base = slash ? slash + 1 : image;
	return strcspn(*base, ":@");
}

bool image_is_cpu(const char *image)
{
	static const char *const names[] = {"nginx",
					    "busybox",
					    "alpine",
					    "ubuntu",
					    "debian",
					    "redis",
					    "postgres",
					    "mysql",
					    "python",
					    "curl",
					    "kubectl",
					    "envoy",
					    "prometheus",
					    "grafana",
					    "haproxy",
					    "httpd",
					    "traefik",
					    "memcached",
					    "rabbitmq",
					    "node",
					    "golang",
					    "git",
					    "minio",
					    "aws-cli",
					    "cloud-sdk",
					    "pause",
					    "etcd",
					    "kafka",
					    "sglang-router",
					    "lmstack-router",
					    "nats",
					    "openjdk",
					    "agnhost",
					    "bash",
					    "whoami",
					    "mongo",
					    "go-httpbin",
					    "httpbin",
					    "hello-world",
					    "perl",
					    "open-webui",
					    "jaeger",
					    "nginx-slim",
					    "nginx-unprivileged",
					    "mosquitto",
					    "rsync",
					    NULL};
	const char *base;
	size_t len;

	if (!image)
		return false;
	if (text_contains(image, "-cpu") || text_contains(image, ":cpu") ||
	    text_contains(image, "_cpu") || text_contains(image, "cpu-"))
		return true;
	len = image_base(image, &base);
	for (const char *const *name = names; *name; name++)
		if (strlen(*name) == len && !strncmp(base, *name, len))
			return true;
	return false;
}
