// SPDX-License-Identifier: Apache-2.0

// Command pods answers whether the API server rejects the creation of a pod.
package main

import (
	"fmt"
	"strings"

	"gpugate.dev/tests/oracle/operators/answers"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/pkg/capabilities"
	"k8s.io/kubernetes/pkg/registry/core/pod"
)

func judge(_ answers.Kind, text []byte) error {
	into := &core.Pod{}
	decoder := legacyscheme.Codecs.UniversalDecoder(core.SchemeGroupVersion)
	if err := runtime.DecodeInto(decoder, text, into); err != nil {
		return err
	}
	if into.Namespace == "" {
		into.Namespace = corev1.NamespaceDefault
	}
	ctx := request.WithNamespace(request.NewContext(), into.Namespace)
	pod.Strategy.PrepareForCreate(ctx, into)
	problems := pod.Strategy.Validate(ctx, into)
	if len(problems) == 0 {
		return nil
	}
	texts := make([]string, len(problems))
	for i, problem := range problems {
		texts[i] = problem.Error()
	}
	return fmt.Errorf("%s", strings.Join(texts, "; "))
}

func main() {
	capabilities.Setup(true, 0)
	answers.Run(judge)
}
