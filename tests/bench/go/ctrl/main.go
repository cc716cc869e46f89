// SPDX-License-Identifier: Apache-2.0

// Command ctrl is a webhook on controller-runtime that decodes the object and
// always allows it. It shows the cost of the usual library. Usage: ctrl PORT
// CERT KEY
package main

import (
	"context"
	"crypto/tls"
	"log"
	"net/http"
	"os"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func object(kind string) runtime.Object {
	switch kind {
	case "Pod":
		return &corev1.Pod{}
	case "Job":
		return &batchv1.Job{}
	default:
		return &unstructured.Unstructured{}
	}
}

func main() {
	ctrllog.SetLogger(logr.Discard())
	decoder := admission.NewDecoder(clientgoscheme.Scheme)
	hook := &webhook.Admission{Handler: admission.HandlerFunc(
		func(_ context.Context, r admission.Request) admission.Response {
			if err := decoder.Decode(r, object(r.Kind.Kind)); err != nil {
				return admission.Errored(http.StatusBadRequest, err)
			}
			return admission.Allowed("")
		})}
	handler, err := admission.StandaloneWebhook(hook, admission.StandaloneOptions{})
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{
		Addr:         "127.0.0.1:" + os.Args[1],
		Handler:      handler,
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
	}
	log.Fatal(server.ListenAndServeTLS(os.Args[2], os.Args[3]))
}
