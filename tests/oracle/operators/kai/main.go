// SPDX-License-Identifier: Apache-2.0

// Command kai answers whether a webhook of KAI-Scheduler rejects a pod of its
// scheduler, a queue or a group of pods.
package main

import (
	"context"
	"os"

	"gpugate.dev/tests/oracle/operators/answers"
	"gpugate.dev/tests/oracle/operators/crds"

	v2 "github.com/NVIDIA/KAI-scheduler/pkg/apis/scheduling/v2"
	"github.com/NVIDIA/KAI-scheduler/pkg/apis/scheduling/v2alpha2"
	gpurequest "github.com/NVIDIA/KAI-scheduler/pkg/binder/plugins/gpusharing/gpu-request"
	corev1 "k8s.io/api/core/v1"
)

func judgePod(object []byte) error {
	pod := &corev1.Pod{}
	if err := answers.Decode(object, pod); err != nil {
		return err
	}
	if pod.Spec.SchedulerName != "kai-scheduler" {
		return nil
	}
	return gpurequest.ValidateGpuRequests(pod)
}

func judgeQueue(object []byte) error {
	queue := &v2.Queue{}
	if err := answers.Decode(object, queue); err != nil {
		return err
	}
	_, err := queue.ValidateCreate(context.Background(), queue)
	return err
}

func judgePodGroup(object []byte) error {
	group := &v2alpha2.PodGroup{}
	if err := answers.Decode(object, group); err != nil {
		return err
	}
	_, err := group.ValidateCreate(context.Background(), group)
	return err
}

var judges = map[answers.Kind]func([]byte) error{
	{APIVersion: "v1", Kind: "Pod"}:                              judgePod,
	{APIVersion: "scheduling.run.ai/v2", Kind: "Queue"}:          judgeQueue,
	{APIVersion: "scheduling.run.ai/v2alpha2", Kind: "PodGroup"}: judgePodGroup,
}

func judge(kind answers.Kind, object []byte) error {
	one, known := judges[kind]
	if !known {
		return answers.ErrUndecodable
	}
	return one(object)
}

func main() {
	answers.Run(crds.After(judge, os.Args[1:]))
}
