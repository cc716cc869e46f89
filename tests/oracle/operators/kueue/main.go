// SPDX-License-Identifier: Apache-2.0

// Command kueue answers whether a webhook of Kueue rejects a job or a queue.
package main

import (
	"encoding/json"
	"os"

	"gpugate.dev/tests/oracle/operators/answers"
	"gpugate.dev/tests/oracle/operators/crds"
	"gpugate.dev/tests/oracle/operators/hooks"

	mpi "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	trainer "github.com/kubeflow/trainer/v2/pkg/apis/trainer/v1alpha1"
	training "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	ray "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgo "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	jobsetapi "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/constants"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	"sigs.k8s.io/kueue/pkg/controller/jobs/deployment"
	"sigs.k8s.io/kueue/pkg/controller/jobs/job"
	"sigs.k8s.io/kueue/pkg/controller/jobs/jobset"
	"sigs.k8s.io/kueue/pkg/controller/jobs/kubeflow/jobs/jaxjob"
	"sigs.k8s.io/kueue/pkg/controller/jobs/kubeflow/jobs/paddlejob"
	"sigs.k8s.io/kueue/pkg/controller/jobs/kubeflow/jobs/pytorchjob"
	"sigs.k8s.io/kueue/pkg/controller/jobs/kubeflow/jobs/tfjob"
	"sigs.k8s.io/kueue/pkg/controller/jobs/kubeflow/jobs/xgboostjob"
	"sigs.k8s.io/kueue/pkg/controller/jobs/leaderworkerset"
	"sigs.k8s.io/kueue/pkg/controller/jobs/mpijob"
	"sigs.k8s.io/kueue/pkg/controller/jobs/pod"
	"sigs.k8s.io/kueue/pkg/controller/jobs/raycluster"
	"sigs.k8s.io/kueue/pkg/controller/jobs/rayjob"
	"sigs.k8s.io/kueue/pkg/controller/jobs/rayservice"
	"sigs.k8s.io/kueue/pkg/controller/jobs/statefulset"
	"sigs.k8s.io/kueue/pkg/controller/jobs/trainjob"
	"sigs.k8s.io/kueue/pkg/webhooks"
	lws "sigs.k8s.io/lws/api/leaderworkerset/v1"
)

var types = []func(*runtime.Scheme) error{
	clientgo.AddToScheme, kueue.AddToScheme, ray.AddToScheme,
	training.AddToScheme, trainer.AddToScheme, mpi.AddToScheme,
	jobsetapi.AddToScheme, lws.AddToScheme,
}

var jobs = []func(ctrl.Manager, ...jobframework.Option) error{
	job.SetupWebhook, pod.SetupWebhook, deployment.SetupWebhook,
	statefulset.SetupWebhook, jobset.SetupJobSetWebhook,
	leaderworkerset.SetupWebhook, raycluster.SetupRayClusterWebhook,
	rayjob.SetupRayJobWebhook, rayservice.SetupRayServiceWebhook,
	mpijob.SetupMPIJobWebhook, pytorchjob.SetupPyTorchJobWebhook,
	tfjob.SetupTFJobWebhook, paddlejob.SetupPaddleJobWebhook,
	jaxjob.SetupJAXJobWebhook, xgboostjob.SetupXGBoostJobWebhook,
	trainjob.SetupTrainJobWebhook,
}

// podOf returns the pod of a Deployment or StatefulSet, whose webhook copies the
// label of the queue to it.
func podOf(object []byte) (*corev1.Pod, error) {
	var owner appsv1.Deployment
	if err := answers.Decode(object, &owner); err != nil {
		return nil, err
	}
	pod := &corev1.Pod{ObjectMeta: owner.Spec.Template.ObjectMeta,
		Spec: owner.Spec.Template.Spec}
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels[constants.QueueLabel] = owner.Labels[constants.QueueLabel]
	pod.Name, pod.Namespace = owner.Name, owner.Namespace
	return pod, nil
}

func main() {
	m := hooks.New(types...)
	for _, setup := range jobs {
		hooks.Must(setup(m))
	}
	_, err := webhooks.Setup(m, nil)
	hooks.Must(err)
	// Default functions of jobs need the queues of a cluster, and change no
	// validated field.
	validate := func(kind answers.Kind, object []byte) error {
		err := m.Validate(kind, object)
		if err != nil || kind.Group() != "apps" {
			return err
		}
		pod, err := podOf(object)
		if err != nil || pod.Labels[constants.QueueLabel] == "" {
			return err
		}
		if object, err = json.Marshal(pod); err != nil {
			return err
		}
		return m.Validate(answers.Kind{APIVersion: "v1", Kind: "Pod"},
			object)
	}
	answers.Run(crds.After(validate, os.Args[1:]))
}
