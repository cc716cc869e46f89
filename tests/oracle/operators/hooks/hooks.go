// SPDX-License-Identifier: Apache-2.0

// Package hooks calls the admission webhooks that an operator sets up with a
// manager of controller-runtime, without a cluster.
package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"gpugate.dev/tests/oracle/operators/answers"

	jsonpatch "github.com/evanphx/json-patch/v5"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
)

type server struct {
	webhook.Server
	mux http.ServeMux
}

func (s *server) Register(path string, hook http.Handler) {
	s.mux.Handle(path, hook)
}

func (s *server) WebhookMux() *http.ServeMux { return &s.mux }

// A Manager provides everything that the setup of webhooks needs, and an empty
// cluster.
type Manager struct {
	manager.Manager
	scheme *runtime.Scheme
	client client.Client
	server server
}

// New returns a manager of the types that the functions add.
func New(add ...func(*runtime.Scheme) error) *Manager {
	m := &Manager{scheme: runtime.NewScheme()}
	for _, one := range add {
		if err := one(m.scheme); err != nil {
			panic(err)
		}
	}
	m.client = fake.NewClientBuilder().WithScheme(m.scheme).Build()
	return m
}

func (m *Manager) GetScheme() *runtime.Scheme       { return m.scheme }
func (m *Manager) GetClient() client.Client         { return m.client }
func (m *Manager) GetConfig() *rest.Config          { return &rest.Config{} }
func (m *Manager) GetWebhookServer() webhook.Server { return &m.server }
func (m *Manager) GetConverterRegistry() conversion.Registry {
	return conversion.NewRegistry()
}

// Must ends the program if a webhook could not be set up.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}

func path(verb string, kind answers.Kind) string {
	group, version, found := strings.Cut(kind.APIVersion, "/")
	if !found {
		group, version = "", kind.APIVersion
	}
	return "/" + verb + "-" + strings.ReplaceAll(group, ".", "-") + "-" +
		version + "-" + strings.ToLower(kind.Kind)
}

func (m *Manager) ask(verb string, kind answers.Kind, object []byte) (
	*admissionv1.AdmissionResponse, error) {
	group, version, _ := strings.Cut(kind.APIVersion, "/")
	review := admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1",
			Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID:       "0",
			Operation: admissionv1.Create,
			Kind: metav1.GroupVersionKind{Group: group,
				Version: version, Kind: kind.Kind},
			Object: runtime.RawExtension{Raw: object}}}
	body, err := json.Marshal(review)
	if err != nil {
		return nil, err
	}
	request := httptest.NewRequest(http.MethodPost, path(verb, kind),
		bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	hook, pattern := m.server.mux.Handler(request)
	if pattern == "" {
		return nil, nil
	}
	recorder := httptest.NewRecorder()
	hook.ServeHTTP(recorder, request)
	err = json.Unmarshal(recorder.Body.Bytes(), &review)
	return review.Response, err
}

func refusal(response *admissionv1.AdmissionResponse) error {
	if response.Allowed {
		return nil
	}
	if response.Result.Code == http.StatusBadRequest {
		return fmt.Errorf("%w: %s", answers.ErrUndecodable,
			response.Result.Message)
	}
	return errors.New(response.Result.Message)
}

// Default returns the object as its mutating webhook leaves it.
func (m *Manager) Default(kind answers.Kind, object []byte) ([]byte, error) {
	response, err := m.ask("mutate", kind, object)
	if err != nil || response == nil {
		return object, err
	}
	if err := refusal(response); err != nil || response.Patch == nil {
		return object, err
	}
	patch, err := jsonpatch.DecodePatch(response.Patch)
	if err != nil {
		return nil, err
	}
	return patch.Apply(object)
}

// Validate returns the reason why the validating webhook rejects the object.
func (m *Manager) Validate(kind answers.Kind, object []byte) error {
	response, err := m.ask("validate", kind, object)
	if err == nil && response == nil {
		err = fmt.Errorf("%w: no webhook of %s %s",
			answers.ErrUndecodable, kind.APIVersion, kind.Kind)
	}
	if err != nil {
		return err
	}
	return refusal(response)
}

// Judge defaults and validates an object.
func (m *Manager) Judge(kind answers.Kind, object []byte) error {
	object, err := m.Default(kind, object)
	if err != nil {
		return err
	}
	return m.Validate(kind, object)
}
