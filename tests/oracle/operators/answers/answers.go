// SPDX-License-Identifier: Apache-2.0

// Package answers reads objects, one line of JSON each, and writes the decision
// of an operator's own code about each: "accepted", "rejected REASON",
// "undecodable", "undecodable: REASON" or, if that code panicked, "failed REASON".
package answers

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// ErrUndecodable means that the API server rejects the object before the operator
// sees it.
var ErrUndecodable = errors.New("undecodable")

// A Kind names the kind of an object.
type Kind struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// Group returns the group of the kind, "" for the core group.
func (k Kind) Group() string {
	group, _, found := strings.Cut(k.APIVersion, "/")
	if !found {
		return ""
	}
	return group
}

// Decode reads an object into its type.
func Decode(object []byte, into any) error {
	if err := json.Unmarshal(object, into); err != nil {
		return fmt.Errorf("%w: %v", ErrUndecodable, err)
	}
	return nil
}

func answer(judge func(Kind, []byte) error, object []byte) (text string) {
	var kind Kind
	defer func() {
		if cause := recover(); cause != nil {
			text = fmt.Sprint("failed ", cause)
		}
	}()
	err := json.Unmarshal(object, &kind)
	if err == nil {
		err = judge(kind, object)
	}
	switch {
	case err == nil:
		return "accepted"
	case errors.Is(err, ErrUndecodable):
		return err.Error()
	default:
		return "rejected " + err.Error()
	}
}

// Run answers all lines of the standard input.
func Run(judge func(Kind, []byte) error) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	out := bufio.NewWriter(os.Stdout)
	for in.Scan() {
		text := answer(judge, in.Bytes())
		fmt.Fprintln(out, strings.ReplaceAll(text, "\n", " "))
	}
	err := in.Err()
	if flush := out.Flush(); err == nil {
		err = flush
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}
