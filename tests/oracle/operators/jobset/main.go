// SPDX-License-Identifier: Apache-2.0

// Command jobset answers whether the webhook of JobSet rejects an object.
package main

import (
	"os"

	"gpugate.dev/tests/oracle/operators/answers"
	"gpugate.dev/tests/oracle/operators/crds"
	"gpugate.dev/tests/oracle/operators/hooks"

	clientgo "k8s.io/client-go/kubernetes/scheme"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/webhooks"
)

func main() {
	m := hooks.New(clientgo.AddToScheme, jobset.AddToScheme)
	hooks.Must(webhooks.Setup(m))
	answers.Run(crds.After(m.Judge, os.Args[1:]))
}
