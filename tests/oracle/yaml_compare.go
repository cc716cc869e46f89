// SPDX-License-Identifier: Apache-2.0

// Compares our YAML reader with go-yaml, and sorts the differences by kind.

package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	goyaml "go.yaml.in/yaml/v2"
	"k8s.io/apimachinery/pkg/util/yaml"
)

func init() {
	commands["yaml-compare"] = yamlCompare
	commands["yaml-suite"] = yamlSuite
}

// yamlCompare DOC_DUMP FOLDER prints one line for each file below FOLDER that
// doc_dump reads in another way than kubectl: its name, and
//
//	note     the values agree, but doc_dump says that kubectl rejects the
//	         file; the text follows in a third column
//	chance   two keys of a map become one string: kubectl takes any
//	stream   doc_dump says that readers disagree, and its values equal
//	         go-yaml's for the whole stream; the note follows
//	more     doc_dump says that readers disagree: its values are kubectl's
//	         and others, which kubectl rejects or drops; the note follows
//	refused  doc_dump rejects text that kubectl reads, and the text before it
//	         agrees; the error follows, or the note in front of it, or that
//	         go-yaml also rejects the stream there
//	differs  anything else
//
// Text after an error is not compared, because kubectl stops there. The last
// line counts the files.
func yamlCompare(args []string, out *bufio.Writer) error {
	if len(args) != 2 {
		return fmt.Errorf("yaml-compare DOC_DUMP FOLDER")
	}
	names, err := filesBelow(args[1])
	if err != nil {
		return err
	}
	dump, err := startDump(args[0])
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		kinds, err := dump.differences([][]byte{text})
		if err != nil {
			return err
		}
		if kinds[0] != "" {
			id, _ := filepath.Rel(args[1], name)
			fmt.Fprintf(out, "%s\t%s\n",
				strings.TrimSuffix(id, ".yaml"), kinds[0])
		}
	}
	fmt.Fprintf(out, "files %d\n", len(names))
	return dump.stop()
}

func filesBelow(folder string) (names []string, err error) {
	err = filepath.WalkDir(folder, func(name string, entry os.DirEntry,
		err error) error {
		if err == nil && entry.Type().IsRegular() {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

// A dump is a doc_dump process that answers texts one by one.
type dump struct {
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

func startDump(program string) (*dump, error) {
	process := exec.Command(program, "--issues", "--stream")
	process.Stderr = os.Stderr
	in, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &dump{process, in, bufio.NewReaderSize(out, 1<<16)},
		process.Start()
}

// stop accepts exit status 1, which means that a text was rejected.
func (d *dump) stop() error {
	d.in.Close()
	err := d.process.Wait()
	if failed, ok := err.(*exec.ExitError); ok && failed.ExitCode() == 1 {
		return nil
	}
	return err
}

// differences returns a kind for each text, or "" if both readers agree.
func (d *dump) differences(texts [][]byte) ([]string, error) {
	go func() {
		var all []byte
		for _, text := range texts {
			all = binary.LittleEndian.AppendUint32(all, uint32(len(text)))
			all = append(all, text...)
		}
		d.in.Write(all) // errors are detected when the answer is read
	}()
	kinds := make([]string, len(texts))
	for i, text := range texts {
		answer, err := d.answer()
		if err != nil {
			return nil, fmt.Errorf("doc_dump on %q: %v", text, err)
		}
		kinds[i] = difference(answer, text)
	}
	for i, text := range texts {
		var err error
		if kinds[i], err = d.look(text, kinds[i]); err != nil {
			return nil, err
		}
	}
	return kinds, nil
}

// look examines a difference in detail. If doc_dump rejects a text that begins
// as JSON but that kubectl reads as YAML, the detail is the reason of doc_dump.
// go-yaml skips the first letter of a line if its buffer begins with U+FEFF
// there. If the difference disappears without U+FEFF, the detail names it.
func (d *dump) look(text []byte, kind string) (string, error) {
	plain := bytes.TrimPrefix(text, []byte("\ufeff"))
	if isUTF16(text) {
		plain, _ = io.ReadAll(unmarked(text))
	}
	other := bytes.ReplaceAll(plain, []byte("\ufeff"), []byte("\ufefc"))
	if kind == "differs" && !bytes.Equal(other, plain) {
		again, err := d.differences([][]byte{other})
		if err == nil && again[0] != kind {
			kind += "\tU+FEFF where go-yaml's buffer begins"
		}
		return kind, err
	}
	if !strings.HasPrefix(kind, "refused\t") || !yaml.IsJSONBuffer(plain) {
		return kind, nil
	}
	forced := append([]byte("---\n"), behindJSON(plain)...)
	again, err := d.differences([][]byte{forced})
	if err == nil && strings.HasPrefix(again[0], "refused\t") {
		kind = again[0]
	}
	return kind, err
}

func isUTF16(text []byte) bool {
	return bytes.HasPrefix(text, []byte("\xff\xfe")) ||
		bytes.HasPrefix(text, []byte("\xfe\xff"))
}

func behindJSON(text []byte) []byte {
	var value json.RawMessage
	decoder := json.NewDecoder(bytes.NewReader(text))
	at := int64(0)
	for decoder.Decode(&value) == nil {
		at = decoder.InputOffset()
	}
	return bytes.TrimSpace(text[at:])
}

func (d *dump) answer() (lines []string, err error) {
	for {
		line, err := d.out.ReadString('\n')
		if err != nil {
			return nil, err
		}
		line = line[:len(line)-1]
		if line == "==" {
			return lines, nil
		}
		lines = append(lines, line)
	}
}

func difference(answer []string, text []byte) string {
	ours, note := ourLines(answer)
	kubectl := kubectlDocuments(text)
	if sameUpToError(ours, kubectl) {
		if strings.HasPrefix(note, "kubectl rejects the file") &&
			len(goodDocuments(kubectl)) == len(kubectl) {
			return "note\t" + note
		}
		return ""
	}
	stream := streamDocuments(text)
	if n := len(stream); n > 0 && stream[n-1] == "error "+errCollision.Error() {
		return "chance"
	}
	if note != "" && sameUpToError(ours, stream) {
		return "stream\t" + note
	}
	good, first := goodDocuments(ours), goodDocuments(kubectl)
	if note != "" && isPart(first, ours) {
		return "more\t" + note
	}
	if len(good) == len(ours) {
		return "differs"
	}
	before := min(len(good), len(first))
	switch same := sameUpToError(good[:before], first[:before]); {
	case note != "":
		return "refused\t" + note
	case same && before < len(good):
	case same && isBehind(good, stream):
		return "refused\tbehind the first root node"
	case same:
		return "refused\t" + withoutNumbers(ours[before])
	}
	return "differs"
}

var (
	places       = regexp.MustCompile(`^(error|note) \d+:\d+: `)
	aboutKubectl = regexp.MustCompile(`^kubectl (rejects|drops)`)
	given        = regexp.MustCompile(
		`line \d+|byte 0x\w+|character U\+\w+`)
)

// withoutNumbers returns the part of a message that is the same for every text.
func withoutNumbers(line string) string {
	line = places.ReplaceAllString(line, "")
	return given.ReplaceAllStringFunc(line, func(text string) string {
		word, _, _ := strings.Cut(text, " ")
		return word + " N"
	})
}

// isBehind returns true if go-yaml also rejects the stream, at once or after
// the next value.
func isBehind(good, stream []string) bool {
	read := goodDocuments(stream)
	return len(read) < len(stream) && len(read)-len(good) <= 1 &&
		len(good) <= len(read) && sameUpToError(good, read[:len(good)])
}

// isPart returns true if all lines of part are in whole, in the same order.
func isPart(part, whole []string) bool {
	for _, line := range whole {
		if len(part) > 0 && part[0] == line {
			part = part[1:]
		}
	}
	return len(part) == 0
}

// goodDocuments returns the documents before the first error.
func goodDocuments(lines []string) []string {
	for i, line := range lines {
		if strings.HasPrefix(line, "error ") {
			return lines[:i]
		}
	}
	return lines
}

// ourLines returns documents as the oracle prints them, and the first note that
// kubectl rejects or drops a text, unless an error precedes it.
func ourLines(answer []string) (lines []string, note string) {
	refused := false
	for _, line := range answer {
		switch {
		case strings.HasPrefix(line, "note "):
			text := withoutNumbers(line)
			if note == "" && !refused && aboutKubectl.MatchString(text) {
				note = text
			}
		case strings.HasPrefix(line, "error "):
			lines = append(lines, line)
			refused = true
		default:
			lines = append(lines, sortedLine(line))
		}
	}
	return lines, note
}

func sortedLine(line string) string {
	var value interface{}
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return "not JSON: " + line
	}
	text, err := json.Marshal(value)
	if err != nil {
		return line
	}
	return string(text)
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

// yamlSuite SOURCES FOLDER writes each case of yaml-test-suite's sources to a
// separate file: NAME.yaml, or NAME-02.yaml for the third of several.
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

// The suite's symbols for invisible characters.
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
