// SPDX-License-Identifier: Apache-2.0

// Applies JSON Patches with the library of the API server.

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"regexp"

	v5 "github.com/evanphx/json-patch/v5"
	v4 "gopkg.in/evanphx/json-patch.v4"
)

func init() {
	commands["patch"] = patchCompare
}

// patchCompare reads lines "OLD\tPATCH\tNEW" of JSON from standard input and
// applies each patch with the version that the API server links (v4) and with
// the current one (v5). It prints the lines whose result is not NEW, and a
// count. v5 treats an empty key as missing, so such patches are applied with v4
// only.
func patchCompare(args []string, out *bufio.Writer) error {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	count, bad := 0, 0
	for {
		line, err := in.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			break
		}
		parts := bytes.Split(bytes.TrimSuffix(line, []byte("\n")), []byte("\t"))
		if len(parts) != 3 {
			return fmt.Errorf("line %d has %d parts", count+1, len(parts))
		}
		count++
		for name, apply := range patchers {
			if name == "v5" && emptyKey.Match(parts[1]) {
				continue
			}
			if text := applied(apply, parts); text != "" {
				bad++
				fmt.Fprintf(out, "%d %s: %s\n%s", count, name, text, line)
			}
		}
	}
	fmt.Fprintf(out, "patch: %d passed, %d failed\n", count-bad, bad)
	if bad > 0 {
		return fmt.Errorf("%d patches differ", bad)
	}
	return nil
}

var emptyKey = regexp.MustCompile(`"path":"[^"]*/[/"]`)

var patchers = map[string]func(old, patch []byte) ([]byte, error){
	"v4": func(old, patch []byte) ([]byte, error) {
		decoded, err := v4.DecodePatch(patch)
		if err != nil {
			return nil, err
		}
		return decoded.Apply(old)
	},
	"v5": func(old, patch []byte) ([]byte, error) {
		decoded, err := v5.DecodePatch(patch)
		if err != nil {
			return nil, err
		}
		return decoded.Apply(old)
	},
}

// applied applies the second part to the first. Returns a problem, or "" if the
// result is the third.
func applied(apply func(old, patch []byte) ([]byte, error), parts [][]byte) string {
	got, err := apply(parts[0], parts[1])
	if err != nil {
		return err.Error()
	}
	a, err := exact(got)
	if err != nil {
		return err.Error()
	}
	b, err := exact(parts[2])
	if err != nil {
		return err.Error()
	}
	if !sameValue(a, b) {
		return "gives " + string(got)
	}
	return ""
}

func exact(text []byte) (any, error) {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err := decoder.Decode(&value)
	return value, err
}

func sameValue(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for key, value := range x {
			other, ok := y[key]
			if !ok || !sameValue(value, other) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !sameValue(x[i], y[i]) {
				return false
			}
		}
		return true
	case json.Number:
		y, ok := b.(json.Number)
		if !ok {
			return false
		}
		r, ok1 := new(big.Rat).SetString(string(x))
		s, ok2 := new(big.Rat).SetString(string(y))
		return ok1 && ok2 && r.Cmp(s) == 0
	}
	return a == b
}
