// SPDX-License-Identifier: Apache-2.0

// Command training answers whether the Kubeflow training operator rejects a
// job: its webhooks or, for an MPIJob, its controller.
package main

import (
	"os"

	"gpugate.dev/tests/oracle/operators/answers"
	"gpugate.dev/tests/oracle/operators/crds"
	"gpugate.dev/tests/oracle/operators/hooks"

	training "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	"github.com/kubeflow/training-operator/pkg/webhooks/jax"
	"github.com/kubeflow/training-operator/pkg/webhooks/paddlepaddle"
	"github.com/kubeflow/training-operator/pkg/webhooks/pytorch"
	"github.com/kubeflow/training-operator/pkg/webhooks/tensorflow"
	"github.com/kubeflow/training-operator/pkg/webhooks/xgboost"
	clientgo "k8s.io/client-go/kubernetes/scheme"
)

func main() {
	m := hooks.New(clientgo.AddToScheme, training.AddToScheme)
	hooks.Must(pytorch.SetupWebhook(m))
	hooks.Must(tensorflow.SetupWebhook(m))
	hooks.Must(xgboost.SetupWebhook(m))
	hooks.Must(paddlepaddle.SetupWebhook(m))
	hooks.Must(jax.SetupWebhook(m))
	answers.Run(crds.After(func(kind answers.Kind, object []byte) error {
		var job training.MPIJob
		if kind.Kind != "MPIJob" {
			return m.Judge(kind, object)
		}
		if err := answers.Decode(object, &job); err != nil {
			return err
		}
		training.SetDefaults_MPIJob(&job)
		return training.ValidateV1MpiJobSpec(&job.Spec)
	}, os.Args[1:]))
}
