// SPDX-License-Identifier: Apache-2.0

// Writes the types, fields and enumerations of Kubernetes' own kinds.

package main

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"reflect"
	"sort"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// clusterScoped lists the kinds that are cluster-scoped, because k8s.io/api says
// so only in comments.
const clusterScoped = " Namespace Node PersistentVolume ComponentStatus " +
	"ClusterRole ClusterRoleBinding StorageClass CSIDriver CSINode " +
	"VolumeAttachment VolumeAttributesClass PriorityClass RuntimeClass " +
	"IngressClass IPAddress ServiceCIDR CertificateSigningRequest " +
	"DeviceClass ResourceSlice FlowSchema PriorityLevelConfiguration "

func init() {
	commands["native-types"] = nativeTypes
}

type typeTable struct {
	names    map[reflect.Type]string
	taken    map[string]bool
	queue    []reflect.Type
	packages map[string]*sources
	enums    map[string][]string
}

// Facts from the comments of a package that reflection does not show: the
// constants of its enums, and the fields ("Type.Field") that are optional.
type sources struct {
	enums    map[string][]string
	optional map[string]bool
}

func hasTag(doc *ast.CommentGroup, tag string) bool {
	if doc == nil {
		return false
	}
	for _, line := range doc.List {
		if strings.TrimSpace(strings.TrimPrefix(line.Text, "//")) == tag {
			return true
		}
	}
	return false
}

func (s *sources) addType(spec *ast.TypeSpec, doc *ast.CommentGroup) {
	if hasTag(doc, "+enum") {
		s.enums[spec.Name.Name] = nil
	}
	if body, ok := spec.Type.(*ast.StructType); ok {
		for _, field := range body.Fields.List {
			for _, name := range field.Names {
				s.optional[spec.Name.Name+"."+name.Name] =
					hasTag(field.Doc, "+optional")
			}
		}
	}
}

func (s *sources) addConstant(spec *ast.ValueSpec) {
	typ, ok := spec.Type.(*ast.Ident)
	if !ok {
		return
	}
	if _, ok := s.enums[typ.Name]; !ok {
		return
	}
	for _, value := range spec.Values {
		if text, ok := value.(*ast.BasicLit); ok {
			word, _ := strconv.Unquote(text.Value)
			s.enums[typ.Name] = append(s.enums[typ.Name], word)
		}
	}
}

func (s *sources) add(file *ast.File, want token.Token) {
	for _, declaration := range file.Decls {
		group, ok := declaration.(*ast.GenDecl)
		if !ok || group.Tok != want {
			continue
		}
		for _, spec := range group.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				doc := spec.Doc
				if doc == nil {
					doc = group.Doc
				}
				s.addType(spec, doc)
			case *ast.ValueSpec:
				s.addConstant(spec)
			}
		}
	}
}

func (t *typeTable) sources(path string) *sources {
	if found, ok := t.packages[path]; ok {
		return found
	}
	s := &sources{map[string][]string{}, map[string]bool{}}
	t.packages[path] = s
	folder, err := build.Import(path, ".", 0)
	if err != nil {
		panic(err)
	}
	var files []*ast.File
	for _, name := range folder.GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(),
			folder.Dir+"/"+name, nil, parser.ParseComments)
		if err != nil {
			panic(err)
		}
		files = append(files, file)
	}
	for _, want := range []token.Token{token.TYPE, token.CONST} {
		for _, file := range files {
			s.add(file, want)
		}
	}
	return s
}

// enum returns "(Protocol)" for an enum of Kubernetes' API.
func (t *typeTable) enum(typ reflect.Type) string {
	if !strings.HasPrefix(typ.PkgPath(), "k8s.io/") {
		return ""
	}
	words := t.sources(typ.PkgPath()).enums[typ.Name()]
	if words == nil {
		return ""
	}
	sort.Strings(words)
	t.enums[typ.Name()] = words
	return "(" + typ.Name() + ")"
}

func (t *typeTable) name(typ reflect.Type) string {
	if name, ok := t.names[typ]; ok {
		return name
	}
	name := typ.Name()
	if t.taken[name] {
		parts := strings.Split(typ.PkgPath(), "/")
		name += "." + strings.Join(parts[len(parts)-2:], ".")
	}
	t.names[typ] = name
	t.taken[name] = true
	t.queue = append(t.queue, typ)
	return name
}

// form returns a letter for a scalar, and T with a name for a struct.
func (t *typeTable) form(typ reflect.Type) string {
	switch typ {
	case reflect.TypeFor[resource.Quantity]():
		return "q"
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime](),
		reflect.TypeFor[metav1.Duration]():
		return "t"
	case reflect.TypeFor[intstr.IntOrString]():
		return "o"
	case reflect.TypeFor[runtime.RawExtension](),
		reflect.TypeFor[metav1.FieldsV1]():
		return "x"
	}
	switch typ.Kind() {
	case reflect.Pointer:
		return "*" + t.form(typ.Elem())
	case reflect.Slice:
		if typ.Elem().Kind() == reflect.Uint8 {
			return "y"
		}
		return "[" + t.form(typ.Elem())
	case reflect.Map:
		return "{" + t.form(typ.Elem())
	case reflect.String:
		return "s" + t.enum(typ)
	case reflect.Bool:
		return "b"
	case reflect.Float32, reflect.Float64:
		return "f"
	case reflect.Struct:
		return "T" + t.name(typ)
	case reflect.Interface:
		return "x"
	}
	return "i"
}

// Types whose embedded reference needs a name, although its comment says that the
// name is optional: validateConfigMapKeySelector() and validateSecretKeySelector()
// of pkg/apis/core/validation.
var namedKeys = map[string]bool{
	"ConfigMapKeySelector": true, "SecretKeySelector": true,
}

func (t *typeTable) fields(typ reflect.Type, out *[]string) {
	for i := 0; i < typ.NumField(); i++ {
		field := typ.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || !field.IsExported() {
			continue
		}
		if name == "" {
			t.fields(field.Type, out)
			if last := len(*out) - 1; namedKeys[typ.Name()] &&
				(*out)[last] == "name=s" {
				(*out)[last] += "+"
			}
			continue
		}
		text := name + "=" + t.form(field.Type)
		optional := strings.Contains(options, "omit") ||
			t.sources(typ.PkgPath()).optional[typ.Name()+"."+field.Name]
		if !optional {
			text += "+"
		}
		if !strings.Contains(options, "omitempty") {
			text += "!"
		}
		if strings.Contains(options, "omitzero") {
			text += "0"
		}
		*out = append(*out, text)
	}
}

// nativeTypes prints the Go types of Kubernetes' kinds, for
// rules/kube/data/native_types.tsv.
func nativeTypes(args []string, out *bufio.Writer) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme,
		autoscalingv1.AddToScheme, autoscalingv2.AddToScheme,
		policyv1.AddToScheme, networkingv1.AddToScheme,
		rbacv1.AddToScheme, storagev1.AddToScheme,
		schedulingv1.AddToScheme, coordinationv1.AddToScheme,
		discoveryv1.AddToScheme, nodev1.AddToScheme,
		resourcev1.AddToScheme, certificatesv1.AddToScheme,
		flowcontrolv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	table := &typeTable{
		map[reflect.Type]string{}, map[string]bool{}, nil,
		map[string]*sources{}, map[string][]string{},
	}
	var kinds []string
	known := scheme.AllKnownTypes()
	var order []schema.GroupVersionKind
	for gvk := range known {
		order = append(order, gvk)
	}
	sort.Slice(order, func(i, j int) bool {
		return order[i].String() < order[j].String()
	})
	for _, gvk := range order {
		typ := known[gvk]
		if _, ok := typ.FieldByName("ObjectMeta"); !ok {
			continue
		}
		plural, _ := meta.UnsafeGuessKindToResource(gvk)
		scope := "Namespaced"
		if strings.Contains(clusterScoped, " "+gvk.Kind+" ") {
			scope = "Cluster"
		}
		group := gvk.Group
		if group == "" {
			group = "-"
		}
		kinds = append(kinds, strings.Join([]string{"@", group,
			gvk.Version, gvk.Kind, plural.Resource, scope,
			table.name(typ)}, "\t"))
	}
	for _, kind := range kinds {
		fmt.Fprintln(out, kind)
	}
	for len(table.queue) > 0 {
		typ := table.queue[0]
		table.queue = table.queue[1:]
		var fields []string
		table.fields(typ, &fields)
		fmt.Fprintf(out, "%s\t%s\n", table.names[typ],
			strings.Join(fields, " "))
	}
	var enums []string
	for name, words := range table.enums {
		enums = append(enums,
			"=\t"+name+"\t"+strings.Join(words, "\t"))
	}
	sort.Strings(enums)
	for _, line := range enums {
		fmt.Fprintln(out, line)
	}
	return nil
}
