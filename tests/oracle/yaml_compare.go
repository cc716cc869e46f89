// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"

	goyaml "go.yaml.in/yaml/v2"
)

func init() {
	commands["yaml-compare"] = yamlCompare
	commands["yaml-suite"] = yamlSuite
}

// yamlCompare DOC_DUMP FOLDER prints one line for each file below FOLDER that
// doc_dump reads in another way than kubectl: its name, and
//
//	chance   two keys of a map become one string: kubectl takes any
//	stream   doc_dump says that readers disagree, and its values are those
//	         of go-yaml for the whole stream
//	more     doc_dump says that readers disagree: its values are kubectl's
//	         and others, which kubectl refuses or drops
//	refused  doc_dump refuses what kubectl reads; what is before agrees;
//	         its error follows in a third column
//	differs  anything else
//
// What follows an error is not compared: kubectl stops there. The last line
// counts the files.
func yamlCompare(args []string, out *bufio.Writer) error {
	if len(args) != 2 {
		return fmt.Errorf("yaml-compare DOC_DUMP FOLDER")
	}
	var names []string
	err := filepath.WalkDir(args[1], func(name string, entry os.DirEntry,
		err error) error {
		if err == nil && entry.Type().IsRegular() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return err
	}
	total := len(names)
	for len(names) > 0 {
		n := min(400, len(names))
		if err := compareBatch(args[0], args[1], names[:n], out); err != nil {
			return err
		}
		names = names[n:]
	}
	fmt.Fprintf(out, "files %d\n", total)
	return nil
}

func compareBatch(dump, folder string, names []string, out *bufio.Writer) error {
	// Two names at least, so that each has its "==" line.
	arguments := append([]string{"--issues"}, names...)
	text, err := exec.Command(dump, append(arguments, os.DevNull)...).Output()
	if failed, ok := err.(*exec.ExitError); ok && failed.ExitCode() == 1 {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("%s: %v", dump, err)
	}
	answers := splitAnswers(text)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		ours, noted := ourLines(answers[name])
		if sameUpToError(ours, kubectlDocuments(text)) {
			continue
		}
		id, _ := filepath.Rel(folder, name)
		fmt.Fprintf(out, "%s\t%s\n", strings.TrimSuffix(id, ".yaml"),
			difference(ours, noted, text))
	}
	return nil
}

func difference(ours []string, noted bool, text []byte) string {
	kubectl := kubectlDocuments(text)
	stream := streamDocuments(text)
	if n := len(stream); n > 0 && stream[n-1] == "error "+errCollision.Error() {
		return "chance"
	}
	if noted && sameUpToError(ours, stream) {
		return "stream"
	}
	good, first := goodDocuments(ours), goodDocuments(kubectl)
	if noted && isPart(first, ours) {
		return "more"
	}
	if len(good) < len(ours) && len(good) < len(first) &&
		sameUpToError(good, first[:len(good)]) {
		return "refused\t" + ours[len(good)]
	}
	return "differs"
}

// isPart: all lines of part are in whole, in the same order.
func isPart(part, whole []string) bool {
	for _, line := range whole {
		if len(part) > 0 && part[0] == line {
			part = part[1:]
		}
	}
	return len(part) == 0
}

// goodDocuments are those in front of the first error.
func goodDocuments(lines []string) []string {
	for i, line := range lines {
		if strings.HasPrefix(line, "error ") {
			return lines[:i]
		}
	}
	return lines
}

func splitAnswers(text []byte) map[string][]string {
	answers := map[string][]string{}
	name := ""
	for _, line := range strings.Split(string(text), "\n") {
		if rest, ok := strings.CutPrefix(line, "== "); ok {
			name = rest
		} else if line != "" {
			answers[name] = append(answers[name], line)
		}
	}
	return answers
}

// ourLines: documents as the oracle prints them; was a disagreement noted?
func ourLines(answer []string) (lines []string, noted bool) {
	for _, line := range answer {
		switch {
		case strings.HasPrefix(line, "note "):
			noted = noted || strings.Contains(line, "kubectl")
		case strings.HasPrefix(line, "error "):
			lines = append(lines, line)
		default:
			var value interface{}
			decoder := json.NewDecoder(strings.NewReader(line))
			decoder.UseNumber()
			if err := decoder.Decode(&value); err != nil {
				line = "not JSON: " + line
			} else if text, err := json.Marshal(value); err == nil {
				line = string(text)
			}
			lines = append(lines, line)
		}
	}
	return lines, noted
}

func sameUpToError(a, b []string) bool {
	for i := 0; i < len(a) || i < len(b); i++ {
		if i == len(a) || i == len(b) {
			return false
		}
		bad := strings.HasPrefix(a[i], "error ")
		if bad != strings.HasPrefix(b[i], "error ") {
			return false
		}
		if bad {
			return true
		}
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// yamlSuite SOURCES FOLDER writes each case of yaml-test-suite's sources into
// a file of its own: NAME.yaml, or NAME-02.yaml for the third of several.
func yamlSuite(args []string, out *bufio.Writer) error {
	if len(args) != 2 {
		return fmt.Errorf("yaml-suite SOURCES FOLDER")
	}
	sources, err := filepath.Glob(filepath.Join(args[0], "*.yaml"))
	if err != nil {
		return err
	}
	sort.Strings(sources)
	total := 0
	for _, source := range sources {
		n, err := writeCases(source, args[1])
		if err != nil {
			return fmt.Errorf("%s: %v", source, err)
		}
		total += n
	}
	fmt.Fprintf(out, "cases %d\n", total)
	return nil
}

// The suite's signs for what an editor does not show.
var visible = strings.NewReplacer("␣", " ", "————»", "\t", "———»", "\t",
	"——»", "\t", "—»", "\t", "»", "\t", "⇔", "\ufeff", "↵", "", "←", "\r")

func writeCases(source, folder string) (int, error) {
	text, err := os.ReadFile(source)
	if err != nil {
		return 0, err
	}
	var cases []map[string]interface{}
	if err := goyaml.Unmarshal(text, &cases); err != nil {
		return 0, err
	}
	name := strings.TrimSuffix(filepath.Base(source), ".yaml")
	for i, one := range cases {
		input, ok := one["yaml"].(string)
		if !ok {
			return 0, fmt.Errorf("case %d has no yaml", i)
		}
		input = visible.Replace(input)
		input = strings.TrimSuffix(input, "∎\n")
		id := name
		if len(cases) > 1 {
			id = fmt.Sprintf("%s-%02d", name, i)
		}
		file := filepath.Join(folder, id+".yaml")
		if err := os.WriteFile(file, []byte(input), 0o666); err != nil {
			return 0, err
		}
	}
	return len(cases), nil
}
