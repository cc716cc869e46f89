// SPDX-License-Identifier: Apache-2.0

// Command kuberay answers whether KubeRay starts an object, or only writes an
// event that it is invalid.
package main

import (
	"os"

	"gpugate.dev/tests/oracle/operators/answers"
	"gpugate.dev/tests/oracle/operators/crds"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
)

func cluster(object []byte) error {
	var c rayv1.RayCluster
	if err := answers.Decode(object, &c); err != nil {
		return err
	}
	if err := utils.ValidateRayClusterMetadata(c.ObjectMeta); err != nil {
		return err
	}
	if err := utils.ValidateRayClusterSpec(&c.Spec, c.Annotations); err != nil {
		return err
	}
	return utils.ValidateRayClusterUpgradeOptions(&c)
}

func job(object []byte) error {
	var j rayv1.RayJob
	if err := answers.Decode(object, &j); err != nil {
		return err
	}
	if err := utils.ValidateRayJobMetadata(j.ObjectMeta); err != nil {
		return err
	}
	return utils.ValidateRayJobSpec(&j)
}

func service(object []byte) error {
	var s rayv1.RayService
	if err := answers.Decode(object, &s); err != nil {
		return err
	}
	if err := utils.ValidateRayServiceMetadata(s.ObjectMeta); err != nil {
		return err
	}
	return utils.ValidateRayServiceSpec(&s)
}

func cronJob(object []byte) error {
	var c rayv1.RayCronJob
	if err := answers.Decode(object, &c); err != nil {
		return err
	}
	return utils.ValidateRayCronJobSpec(&c)
}

func judge(kind answers.Kind, object []byte) error {
	switch kind.Kind {
	case "RayCluster":
		return cluster(object)
	case "RayJob":
		return job(object)
	case "RayService":
		return service(object)
	case "RayCronJob":
		return cronJob(object)
	}
	return answers.ErrUndecodable
}

func main() { answers.Run(crds.After(judge, os.Args[1:])) }
