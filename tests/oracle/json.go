// SPDX-License-Identifier: Apache-2.0

// Reads JSON as Go's encoding/json and the API server do.

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

func init() {
	commands["json"] = jsonFiles
	commands["canon"] = canonLines
}

// jsonFiles prints one line per file: "accept VALUE" with the canonical value,
// or "refuse TEXT", as encoding/json decides for an interface{}. With --utf8,
// it also refuses bytes that are not UTF-8, which encoding/json replaces.
func jsonFiles(args []string, out *bufio.Writer) error {
	strict := len(args) > 0 && args[0] == "--utf8"
	if strict {
		args = args[1:]
	}
	for _, name := range args {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		value, err := canonical(text)
		if strict && !utf8.Valid(text) {
			err = errors.New("invalid UTF-8")
		}
		if err != nil {
			fmt.Fprintf(out, "refuse %s\n", oneLine(err.Error()))
		} else {
			fmt.Fprintf(out, "accept %s\n", value)
		}
	}
	return nil
}

// canonLines copies standard input and puts every line that is JSON into
// canonical form, so that values printed by different programs compare as
// text.
func canonLines(args []string, out *bufio.Writer) error {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			line = bytes.TrimSuffix(line, []byte("\n"))
			if value, bad := canonical(line); bad == nil {
				line = []byte(value)
			}
			out.Write(line)
			out.WriteByte('\n')
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// canonical decodes text twice: into plain values, which decides whether it
// is accepted, and with the digits of its numbers kept, which is printed.
func canonical(text []byte) (string, error) {
	var plain, exact interface{}
	if err := json.Unmarshal(text, &plain); err != nil {
		return "", err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&exact); err != nil {
		return "", err
	}
	return string(appendCanonical(nil, exact)), nil
}

// appendCanonical appends a value with sorted keys, without spaces, and with
// strings escaped by encoding/json.
func appendCanonical(out []byte, value interface{}) []byte {
	switch v := value.(type) {
	case map[string]interface{}:
		return appendObject(out, v)
	case []interface{}:
		out = append(out, '[')
		for i, item := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendCanonical(out, item)
		}
		return append(out, ']')
	case json.Number:
		return appendNumber(out, v.String())
	default:
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return append(out, text...)
	}
}

func appendObject(out []byte, object map[string]interface{}) []byte {
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	out = append(out, '{')
	for i, key := range keys {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendCanonical(out, key)
		out = append(out, ':')
		out = appendCanonical(out, object[key])
	}
	return append(out, '}')
}

// appendNumber appends a number as Kubernetes stores it, in 64 bits. Integers
// that fit keep their digits; a float64 that is whole prints as an integer, so
// that 1.0, 1e0 and 1 are one value.
func appendNumber(out []byte, digits string) []byte {
	if whole, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return strconv.AppendInt(out, whole, 10)
	}
	if whole, err := strconv.ParseUint(digits, 10, 64); err == nil {
		return strconv.AppendUint(out, whole, 10)
	}
	number, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		panic(err)
	}
	if math.Abs(number) < 1<<63 && number == math.Trunc(number) {
		return strconv.AppendInt(out, int64(number), 10)
	}
	return strconv.AppendFloat(out, number, 'g', -1, 64)
}

func oneLine(text string) string {
	return strings.ReplaceAll(text, "\n", " ")
}
