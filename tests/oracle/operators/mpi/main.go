// SPDX-License-Identifier: Apache-2.0

// Command mpi answers whether the controller of MPIJob v2beta1 rejects a job.
package main

import (
	"os"

	"gpugate.dev/tests/oracle/operators/answers"
	"gpugate.dev/tests/oracle/operators/crds"

	mpi "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	"github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/validation"
)

func main() {
	answers.Run(crds.After(func(_ answers.Kind, object []byte) error {
		var job mpi.MPIJob
		if err := answers.Decode(object, &job); err != nil {
			return err
		}
		mpi.SetDefaults_MPIJob(&job)
		return validation.ValidateMPIJob(&job).ToAggregate()
	}, os.Args[1:]))
}
