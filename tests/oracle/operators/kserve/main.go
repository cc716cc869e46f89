// SPDX-License-Identifier: Apache-2.0

// Command kserve answers whether a webhook of KServe rejects an InferenceService
// or an LLMInferenceService. An InferenceService counts as rejected if it is
// rejected under each default deployment mode.
package main

import (
	"context"
	"os"

	"gpugate.dev/tests/oracle/operators/answers"
	"gpugate.dev/tests/oracle/operators/crds"

	"github.com/kserve/kserve/pkg/apis/serving/v1alpha1"
	"github.com/kserve/kserve/pkg/apis/serving/v1alpha2"
	"github.com/kserve/kserve/pkg/apis/serving/v1beta1"
	"github.com/kserve/kserve/pkg/constants"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

var modes = []constants.DeploymentModeType{constants.Standard,
	constants.Knative}

// A validator is a validating webhook. object returns an empty object of its type.
type validator struct {
	webhook.CustomValidator
	object func() runtime.Object
}

var validators = map[answers.Kind]validator{
	{APIVersion: "serving.kserve.io/v1alpha1", Kind: "LLMInferenceService"}: {
		&v1alpha1.LLMInferenceServiceValidator{},
		func() runtime.Object { return &v1alpha1.LLMInferenceService{} }},
	{APIVersion: "serving.kserve.io/v1alpha2", Kind: "LLMInferenceService"}: {
		&v1alpha2.LLMInferenceServiceValidator{},
		func() runtime.Object { return &v1alpha2.LLMInferenceService{} }},
}

func judgeService(object []byte) error {
	var err error
	for _, mode := range modes {
		service := &v1beta1.InferenceService{}
		if err := answers.Decode(object, service); err != nil {
			return err
		}
		service.DefaultInferenceService(&v1beta1.InferenceServicesConfig{},
			&v1beta1.DeployConfig{DefaultDeploymentMode: string(mode)},
			nil, nil, nil)
		validator := v1beta1.InferenceServiceValidator{}
		_, err = validator.ValidateCreate(context.Background(), service)
		if err == nil {
			return nil
		}
	}
	return err
}

func judge(kind answers.Kind, object []byte) error {
	if kind.APIVersion == "serving.kserve.io/v1beta1" &&
		kind.Kind == "InferenceService" {
		return judgeService(object)
	}
	one, known := validators[kind]
	if !known {
		return answers.ErrUndecodable
	}
	into := one.object()
	if err := answers.Decode(object, into); err != nil {
		return err
	}
	_, err := one.ValidateCreate(context.Background(), into)
	return err
}

func main() {
	answers.Run(crds.After(judge, os.Args[1:]))
}
