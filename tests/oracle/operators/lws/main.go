// SPDX-License-Identifier: Apache-2.0

// Command lws answers whether the webhook of LeaderWorkerSet rejects an object.
package main

import (
	"os"

	"gpugate.dev/tests/oracle/operators/answers"
	"gpugate.dev/tests/oracle/operators/crds"
	"gpugate.dev/tests/oracle/operators/hooks"

	clientgo "k8s.io/client-go/kubernetes/scheme"
	lws "sigs.k8s.io/lws/api/leaderworkerset/v1"
	"sigs.k8s.io/lws/pkg/webhooks"
)

func main() {
	m := hooks.New(clientgo.AddToScheme, lws.AddToScheme)
	hooks.Must(webhooks.SetupLeaderWorkerSetWebhook(m))
	answers.Run(crds.After(m.Judge, os.Args[1:]))
}
