// SPDX-License-Identifier: Apache-2.0

// Package crds processes an object as the API server does before an operator
// sees it: defaults, the schema and the rules of its CustomResourceDefinition,
// and its metadata.
package crds

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"gpugate.dev/tests/oracle/operators/answers"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

type definition struct {
	structural *schema.Structural
	validator  validation.SchemaValidator
	rules      *cel.Validator
	namespaced bool
}

type definitions map[answers.Kind]*definition

func (all definitions) add(crd *apiextensionsv1.CustomResourceDefinition) error {
	for i := range crd.Spec.Versions {
		version := &crd.Spec.Versions[i]
		var props apiextensions.JSONSchemaProps
		err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
			version.Schema.OpenAPIV3Schema, &props, nil)
		if err != nil {
			return err
		}
		one := &definition{namespaced: crd.Spec.Scope == "Namespaced"}
		if one.structural, err = schema.NewStructural(&props); err != nil {
			return err
		}
		one.validator, _, err = validation.NewSchemaValidator(&props)
		if err != nil {
			return err
		}
		one.rules = cel.NewValidator(one.structural, true,
			celconfig.PerCallLimit)
		all[answers.Kind{
			APIVersion: crd.Spec.Group + "/" + version.Name,
			Kind:       crd.Spec.Names.Kind}] = one
	}
	return nil
}

func (all definitions) read(folder string) error {
	names, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return err
	}
	for _, name := range names {
		var crd apiextensionsv1.CustomResourceDefinition
		text, err := os.ReadFile(name)
		if err == nil {
			err = yaml.Unmarshal(text, &crd)
		}
		if err == nil && crd.Kind == "CustomResourceDefinition" {
			err = all.add(&crd)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func checkMetadata(object map[string]any, namespaced bool) field.ErrorList {
	var meta metav1.ObjectMeta
	text, err := json.Marshal(object["metadata"])
	if err == nil {
		err = json.Unmarshal(text, &meta)
	}
	path := field.NewPath("metadata")
	if err != nil {
		return field.ErrorList{field.Invalid(path, nil, err.Error())}
	}
	return metavalidation.ValidateObjectMeta(&meta, namespaced,
		metavalidation.NameIsDNSSubdomain, path)
}

func (one *definition) check(object map[string]any) error {
	defaulting.Default(object, one.structural)
	problems := validation.ValidateCustomResource(nil, object, one.validator)
	problems = append(problems,
		listtype.ValidateListSetsAndMaps(nil, one.structural, object)...)
	if len(problems) > 0 {
		return fmt.Errorf("%w: %w", answers.ErrUndecodable,
			problems.ToAggregate())
	}
	if one.rules == nil {
		return nil
	}
	problems, _ = one.rules.Validate(context.Background(), nil,
		one.structural, object, nil, celconfig.RuntimeCELCostBudget)
	return problems.ToAggregate()
}

// After returns a function that passes objects to judge in the form in which
// the API server stores them, if it accepts them by the definitions in all
// folders.
func After(judge func(answers.Kind, []byte) error, folders []string) func(
	answers.Kind, []byte) error {
	all := definitions{}
	for _, folder := range folders {
		if err := all.read(folder); err != nil {
			panic(err)
		}
	}
	return func(kind answers.Kind, text []byte) error {
		var object map[string]any
		// Whole numbers are integers, as for the API server.
		if err := utiljson.Unmarshal(text, &object); err != nil {
			return fmt.Errorf("%w: %w", answers.ErrUndecodable, err)
		}
		one := all[kind]
		namespaced := one == nil || one.namespaced
		meta, _ := object["metadata"].(map[string]any)
		if namespaced && meta != nil && meta["namespace"] == nil {
			meta["namespace"] = "default"
		}
		problems := checkMetadata(object, namespaced)
		if len(problems) > 0 {
			return fmt.Errorf("%w: %w", answers.ErrUndecodable,
				problems.ToAggregate())
		}
		if one != nil {
			if err := one.check(object); err != nil {
				return err
			}
		}
		text, err := json.Marshal(object)
		if err != nil {
			return err
		}
		return judge(kind, text)
	}
}
