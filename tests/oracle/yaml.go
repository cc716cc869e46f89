// SPDX-License-Identifier: Apache-2.0

// Reads YAML files as kubectl does, and prints their values as JSON.

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	goyaml "go.yaml.in/yaml/v2"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
	"k8s.io/apimachinery/pkg/util/yaml"
)

func init() {
	commands["yaml"] = yamlFiles
}

// yamlFiles [--stream] FILE... prints one line per document: its value as JSON,
// with sorted keys and the digits that encoding/json writes, or "error TEXT"
// where reading ends. Files are read as by kubectl or, with --stream, as
// go-yaml reads a stream of documents. With several files, a line "== FILE"
// precedes each.
func yamlFiles(args []string, out *bufio.Writer) error {
	read := kubectlDocuments
	if len(args) > 0 && args[0] == "--stream" {
		read = streamDocuments
		args = args[1:]
	}
	for _, name := range args {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if len(args) > 1 {
			fmt.Fprintf(out, "== %s\n", name)
		}
		for _, line := range read(text) {
			fmt.Fprintln(out, oneLine(line))
		}
	}
	return nil
}

// kubectlDocuments splits a file like FileVisitor and StreamVisitor of
// k8s.io/cli-runtime, without decoding into objects.
func kubectlDocuments(text []byte) (lines []string) {
	decoder := yaml.NewYAMLOrJSONDecoder(unmarked(text), 4096)
	for {
		var raw json.RawMessage
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return lines
		}
		if err != nil {
			return append(lines, "error "+err.Error())
		}
		lines = appendDocument(lines, raw)
	}
}

// unmarked removes the byte order mark, and decodes the text accordingly.
func unmarked(text []byte) io.Reader {
	return transform.NewReader(bytes.NewReader(text),
		unicode.BOMOverride(unicode.UTF8.NewDecoder()))
}

// appendDocument skips null and empty documents, as kubectl does.
func appendDocument(lines []string, text []byte) []string {
	var value interface{}
	text = bytes.TrimSpace(text)
	if len(text) == 0 || string(text) == "null" {
		return lines
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return append(lines, "error "+err.Error())
	}
	text, err := json.Marshal(value)
	if err != nil {
		return append(lines, "error "+err.Error())
	}
	return append(lines, string(text))
}

// streamDocuments splits at YAML's own document markers.
func streamDocuments(text []byte) (lines []string) {
	decoder := goyaml.NewDecoder(unmarked(text))
	for {
		var value interface{}
		err := decoder.Decode(&value)
		if errors.Is(err, io.EOF) {
			return lines
		}
		var plain interface{}
		if err == nil && collides(value) {
			err = errCollision
		}
		if err == nil {
			plain, err = jsonable(value)
		}
		var text []byte
		if err == nil {
			text, err = json.Marshal(plain)
		}
		if err != nil {
			return append(lines, "error "+err.Error())
		}
		lines = appendDocument(lines, text)
	}
}

// If two keys become one string, kubectl takes either, because Go's maps have
// no order.
var errCollision = errors.New("two keys become one")

func collides(value interface{}) bool {
	switch v := value.(type) {
	case map[interface{}]interface{}:
		names := map[string]bool{}
		for key, item := range v {
			name, err := keyText(key)
			if err == nil && names[name] || collides(item) {
				return true
			}
			names[name] = true
		}
	case []interface{}:
		for _, item := range v {
			if collides(item) {
				return true
			}
		}
	}
	return false
}

// jsonable converts keys to strings, as sigs.k8s.io/yaml does.
func jsonable(value interface{}) (interface{}, error) {
	switch v := value.(type) {
	case map[interface{}]interface{}:
		object := map[string]interface{}{}
		for key, item := range v {
			name, err := keyText(key)
			if err != nil {
				return nil, err
			}
			if object[name], err = jsonable(item); err != nil {
				return nil, err
			}
		}
		return object, nil
	case []interface{}:
		list := make([]interface{}, len(v))
		for i, item := range v {
			var err error
			if list[i], err = jsonable(item); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	return value, nil
}

func keyText(key interface{}) (string, error) {
	switch k := key.(type) {
	case string:
		return k, nil
	case int, int64, bool:
		return fmt.Sprint(k), nil
	case float64:
		text := strconv.FormatFloat(k, 'g', -1, 32)
		special := map[string]string{
			"+Inf": ".inf", "-Inf": "-.inf", "NaN": ".nan"}
		if word, ok := special[text]; ok {
			text = word
		}
		return text, nil
	}
	return "", fmt.Errorf("key of type %T", key)
}
