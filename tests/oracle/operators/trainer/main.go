// SPDX-License-Identifier: Apache-2.0

// Command trainer answers whether a webhook of Kubeflow Trainer v2 rejects a
// runtime, or one of the objects of a List: runtimes, then the TrainJobs that refer
// to them.
package main

import (
	"context"
	"encoding/json"
	"os"

	"gpugate.dev/tests/oracle/operators/answers"
	"gpugate.dev/tests/oracle/operators/crds"
	"gpugate.dev/tests/oracle/operators/hooks"

	trainer "github.com/kubeflow/trainer/v2/pkg/apis/trainer/v1alpha1"
	"github.com/kubeflow/trainer/v2/pkg/runtime/core"
	"github.com/kubeflow/trainer/v2/pkg/webhooks"
	clientgo "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	scheduling "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"
	volcano "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
)

// noIndexes is an indexer that does nothing: validation reads by name.
type noIndexes struct{}

func (noIndexes) IndexField(context.Context, client.Object, string,
	client.IndexerFunc) error {
	return nil
}

type cluster struct {
	*hooks.Manager
	added []client.Object
}

// judge validates one object, and adds a runtime to the cluster.
func (c *cluster) judge(kind answers.Kind, object []byte) error {
	var runtime client.Object
	if err := c.Judge(kind, object); err != nil {
		return err
	}
	switch kind.Kind {
	case trainer.TrainingRuntimeKind:
		runtime = &trainer.TrainingRuntime{}
	case trainer.ClusterTrainingRuntimeKind:
		runtime = &trainer.ClusterTrainingRuntime{}
	default:
		return nil
	}
	if err := answers.Decode(object, runtime); err != nil {
		return err
	}
	c.added = append(c.added, runtime)
	return c.GetClient().Create(context.Background(), runtime)
}

func (c *cluster) clear() {
	for _, runtime := range c.added {
		hooks.Must(c.GetClient().Delete(context.Background(), runtime))
	}
	c.added = nil
}

func main() {
	m := hooks.New(clientgo.AddToScheme, trainer.AddToScheme,
		jobset.AddToScheme, scheduling.AddToScheme, volcano.AddToScheme)
	runtimes, err := core.New(context.Background(), m.GetClient(),
		noIndexes{}, nil)
	hooks.Must(err)
	_, err = webhooks.Setup(m, runtimes)
	hooks.Must(err)
	c := &cluster{Manager: m}
	one := crds.After(c.judge, os.Args[1:])
	answers.Run(func(kind answers.Kind, list []byte) error {
		var objects struct{ Items []json.RawMessage }
		defer c.clear()
		if kind.Kind != "List" {
			return one(kind, list)
		}
		if err := answers.Decode(list, &objects); err != nil {
			return err
		}
		for _, object := range objects.Items {
			var kind answers.Kind
			err := answers.Decode(object, &kind)
			if err == nil {
				err = one(kind, object)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
