// SPDX-License-Identifier: Apache-2.0

// Command volcano answers whether a webhook of Volcano rejects a job, the jobs of
// a CronJob, a queue or a group of pods.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"

	"gpugate.dev/tests/oracle/operators/answers"
	"gpugate.dev/tests/oracle/operators/crds"

	jsonpatch "github.com/evanphx/json-patch/v5"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"volcano.sh/apis/pkg/apis/batch/v1alpha1"
	"volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	listers "volcano.sh/apis/pkg/client/listers/scheduling/v1beta1"
	"volcano.sh/volcano/cmd/webhook-manager/app/options"
	_ "volcano.sh/volcano/pkg/webhooks/admission/cronjobs/validate"
	_ "volcano.sh/volcano/pkg/webhooks/admission/jobs/mutate"
	_ "volcano.sh/volcano/pkg/webhooks/admission/jobs/validate"
	_ "volcano.sh/volcano/pkg/webhooks/admission/podgroups/validate"
	_ "volcano.sh/volcano/pkg/webhooks/admission/queues/mutate"
	_ "volcano.sh/volcano/pkg/webhooks/admission/queues/validate"
	"volcano.sh/volcano/pkg/webhooks/router"
)

// An openCluster has each queue: open, without children, and with the resources
// of the checked queue.
type openCluster struct {
	listers.QueueLister
	judged v1beta1.Queue
}

func (cluster *openCluster) Get(name string) (*v1beta1.Queue, error) {
	return &v1beta1.Queue{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       cluster.judged.Spec,
		Status:     v1beta1.QueueStatus{State: v1beta1.QueueStateOpen},
	}, nil
}

func (cluster *openCluster) List(labels.Selector) ([]*v1beta1.Queue, error) {
	return nil, nil
}

var resources = map[string]string{"Job": "jobs", "CronJob": "cronjobs",
	"Queue": "queues", "PodGroup": "podgroups"}

const admissions = "/jobs/mutate,/jobs/validate,/queues/mutate," +
	"/queues/validate,/podgroups/validate,/cronjobs/validate"

type hooks struct {
	services map[string]*router.AdmissionService
	cluster  openCluster
}

func (all *hooks) ask(verb string, kind answers.Kind, object []byte) (
	*admissionv1.AdmissionResponse, error) {
	resource := resources[kind.Kind]
	hook := all.services["/"+resource+"/"+verb]
	if hook == nil {
		return &admissionv1.AdmissionResponse{Allowed: true}, nil
	}
	review := admissionv1.AdmissionReview{
		Request: &admissionv1.AdmissionRequest{
			Operation: admissionv1.Create,
			Resource: metav1.GroupVersionResource{
				Group: kind.Group(), Resource: resource,
				Version: kind.APIVersion[len(kind.Group())+1:]},
			Object: runtime.RawExtension{Raw: object}}}
	response := hook.Func(review)
	switch {
	case response.Allowed:
		return response, nil
	case response.Result.Code == http.StatusBadRequest:
		return nil, fmt.Errorf("%w: %s", answers.ErrUndecodable,
			response.Result.Message)
	}
	return nil, errors.New(response.Result.Message)
}

func (all *hooks) judge(kind answers.Kind, object []byte) error {
	if resources[kind.Kind] == "" || kind.Group() == "" {
		return answers.ErrUndecodable
	}
	response, err := all.ask("mutate", kind, object)
	if err != nil {
		return err
	}
	if len(response.Patch) > 0 {
		patch, err := jsonpatch.DecodePatch(response.Patch)
		if err != nil {
			return err
		}
		if object, err = patch.Apply(object); err != nil {
			return err
		}
	}
	all.cluster.judged = v1beta1.Queue{}
	if kind.Kind == "Queue" {
		err = answers.Decode(object, &all.cluster.judged)
		if err != nil {
			return err
		}
	}
	_, err = all.ask("validate", kind, object)
	if err == nil && kind.Kind == "CronJob" {
		err = all.judgeJobOf(object)
	}
	return err
}

// judgeJobOf judges a Job that the controller makes of a CronJob, as
// getJobFromTemplate() of pkg/controllers/cronjob does.
func (all *hooks) judgeJobOf(cronJob []byte) error {
	var from v1alpha1.CronJob
	if err := answers.Decode(cronJob, &from); err != nil {
		return err
	}
	template := from.Spec.JobTemplate
	kind := answers.Kind{APIVersion: from.APIVersion, Kind: "Job"}
	job, err := json.Marshal(v1alpha1.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: kind.APIVersion,
			Kind: kind.Kind},
		ObjectMeta: metav1.ObjectMeta{
			Name:        from.Name + "-29000000", // minutes since 1970
			Namespace:   from.Namespace,
			Labels:      template.Labels,
			Annotations: template.Annotations},
		Spec: template.Spec})
	if err != nil {
		return err
	}
	return all.judge(kind, job)
}

func main() {
	all := &hooks{services: map[string]*router.AdmissionService{}}
	enabled := &options.Config{EnabledAdmission: admissions}
	err := router.ForEachAdmission(enabled,
		func(service *router.AdmissionService) error {
			if service.Config != nil {
				service.Config.QueueLister = &all.cluster
			}
			all.services[service.Path] = service
			return nil
		})
	if err != nil {
		panic(err)
	}
	answers.Run(crds.After(all.judge, os.Args[1:]))
}
