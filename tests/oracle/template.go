// SPDX-License-Identifier: Apache-2.0

// Merges random pod templates and patches with apimachinery's strategic merge.

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"sort"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

func init() {
	commands["template-cases"] = templateCases
	commands["template-compare"] = templateCompare
}

type templateCase struct {
	Template, Patch map[string]any
	Ours            any `json:",omitempty"`
}

// mergeKeys are the keys of the lists that are merged item by item.
var mergeKeys = map[string]string{
	"containers": "name", "initContainers": "name", "env": "name",
	"volumes": "name", "volumeMounts": "mountPath",
	"ports": "containerPort", "imagePullSecrets": "name",
	"hostAliases": "ip", "resourceClaims": "name",
	"topologySpreadConstraints": "topologyKey", "schedulingGates": "name",
	"volumeDevices": "devicePath",
}

// A maker creates a part of a template, or of a patch for one.
type maker struct {
	*rand.Rand
	patch bool
}

func (m maker) text(words ...string) any {
	return words[m.Intn(len(words))]
}

// some returns some of the fields; in patches, a few of them are null.
func (m maker) some(fields map[string]func() any) map[string]any {
	made := map[string]any{}
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		switch n := m.Intn(8); {
		case n == 0 && m.patch:
			made[name] = nil
		case n < 4:
			made[name] = fields[name]()
		}
	}
	if m.patch && m.Intn(25) == 0 {
		made["$patch"] = "replace"
	}
	return made
}

// items returns a list of items with different keys.
func (m maker) items(key string, values []any, fields map[string]func() any) any {
	list := []any{}
	for _, at := range m.Perm(len(values))[:m.Intn(len(values)+1)] {
		item := map[string]any{}
		if fields != nil {
			item = m.some(fields)
			delete(item, "$patch")
		}
		item[key] = values[at]
		if m.patch && m.Intn(8) == 0 {
			item = map[string]any{key: values[at], "$patch": "delete"}
		}
		list = append(list, item)
	}
	if m.patch && m.Intn(20) == 0 {
		list = append(list, map[string]any{"$patch": "replace"})
	}
	return list
}

func (m maker) named(names ...any) func() any {
	return func() any { return m.items("name", names, nil) }
}

func (m maker) words() any {
	list := []any{}
	for range m.Intn(3) {
		list = append(list, m.text("a", "b", "--c"))
	}
	return list
}

func (m maker) amounts() any {
	return m.some(map[string]func() any{
		"cpu":            func() any { return m.text("1", "500m") },
		"memory":         func() any { return m.text("1Gi", "2Gi") },
		"nvidia.com/gpu": func() any { return m.text("1", "8") },
	})
}

func (m maker) containers() any {
	return m.items("name", []any{"a", "b", "c"}, map[string]func() any{
		"image":   func() any { return m.text("x:1", "y:2") },
		"command": m.words,
		"args":    m.words,
		"tty":     func() any { return m.Intn(2) == 0 },
		"env": func() any {
			return m.items("name", []any{"A", "B", "C"},
				map[string]func() any{"value": func() any {
					return m.text("1", "2")
				}})
		},
		"volumeMounts": func() any {
			return m.items("mountPath", []any{"/a", "/dev/shm"},
				map[string]func() any{
					"name": func() any { return m.text("v", "w") },
				})
		},
		"ports": func() any {
			return m.items("containerPort", []any{80.0, 8000.0}, nil)
		},
		"resources": func() any {
			return m.some(map[string]func() any{
				"limits": m.amounts, "requests": m.amounts})
		},
		"readinessProbe": func() any {
			return map[string]any{"periodSeconds": 1.0 + float64(m.Intn(3))}
		},
	})
}

func (m maker) spec() any {
	return m.some(map[string]func() any{
		"containers":     m.containers,
		"initContainers": m.containers,
		"hostIPC":        func() any { return m.Intn(2) == 0 },
		"nodeSelector": func() any {
			return m.some(map[string]func() any{
				"a": func() any { return m.text("1", "2") },
				"b": func() any { return m.text("1", "2") }})
		},
		"tolerations": func() any {
			return []any{map[string]any{"key": m.text("a", "b")}}
		},
		"volumes": func() any {
			return m.items("name", []any{"v", "w"}, map[string]func() any{
				"emptyDir": func() any {
					return m.some(map[string]func() any{
						"medium": func() any { return "Memory" }})
				}})
		},
		"imagePullSecrets": m.named("s", "t"),
		"schedulingGates":  m.named("g", "h"),
		"resourceClaims":   m.named("c", "d"),
	})
}

func (m maker) template() map[string]any {
	return m.some(map[string]func() any{
		"metadata": func() any {
			return map[string]any{"labels": m.amounts()}
		},
		"spec": m.spec,
	})
}

// templateCases prints COUNT templates and patches, one JSON object per line.
func templateCases(args []string, out *bufio.Writer) error {
	count, _ := strconv.Atoi(args[0])
	seed, _ := strconv.ParseInt(args[1], 10, 64)
	random := rand.New(rand.NewSource(seed))
	for range count {
		one := templateCase{
			Template: maker{random, false}.template(),
			Patch:    maker{random, true}.template()}
		line, err := json.Marshal(one)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s\n", line)
	}
	return nil
}

func directs(item any) bool {
	fields, _ := item.(map[string]any)
	_, found := fields["$patch"]
	return found
}

// asRead returns a value as readers see it: null is absent. Lists that are
// merged by a key are sorted by it, because the order of their items depends on
// more than the two lists. Directives that strategicpatch leaves where nothing
// was patched are removed.
func asRead(name string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, child := range value {
			if child == nil || key == "$patch" || directs(child) {
				delete(value, key)
				continue
			}
			value[key] = asRead(key, child)
		}
	case []any:
		list := []any{}
		for _, item := range value {
			if !directs(item) {
				list = append(list, asRead("", item))
			}
		}
		if key := mergeKeys[name]; key != "" {
			sort.Slice(list, func(i, j int) bool {
				a, _ := list[i].(map[string]any)
				b, _ := list[j].(map[string]any)
				return fmt.Sprint(a[key]) < fmt.Sprint(b[key])
			})
		}
		return list
	}
	return value
}

func merged(one *templateCase) (any, error) {
	template, err := json.Marshal(one.Template)
	if err != nil {
		return nil, err
	}
	patch, err := json.Marshal(one.Patch)
	if err != nil {
		return nil, err
	}
	text, err := strategicpatch.StrategicMergePatch(template, patch,
		corev1.PodTemplateSpec{})
	if err != nil {
		return nil, err
	}
	var value any
	err = json.Unmarshal(text, &value)
	return value, err
}

// templateCompare reads cases with gpugate's results. Prints the first five that
// strategicpatch merges differently, and the numbers of equal, different and
// refused cases.
func templateCompare(args []string, out *bufio.Writer) error {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	passed, failed, refused := 0, 0, 0
	for in.Scan() {
		var one templateCase
		if err := json.Unmarshal(in.Bytes(), &one); err != nil {
			return err
		}
		theirs, err := merged(&one)
		if err != nil {
			refused++
			continue
		}
		if reflect.DeepEqual(asRead("", theirs), asRead("", one.Ours)) {
			passed++
			continue
		}
		failed++
		if failed <= 5 {
			text, _ := json.Marshal(theirs)
			fmt.Fprintf(out, "FAIL %s\n  theirs %s\n", in.Text(), text)
		}
	}
	fmt.Fprintf(out, "template: %d passed, %d failed, %d that it refuses\n",
		passed, failed, refused)
	return in.Err()
}
