// SPDX-License-Identifier: Apache-2.0

// Compares our YAML reader with go-yaml on random and changed texts.

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
)

func init() {
	commands["yaml-random"] = yamlRandom
	commands["yaml-examples"] = yamlExamples
}

// yamlRandom DOC_DUMP N SEED FOLDER compares N generated texts like
// yaml-compare: YAML and JSON in all their styles, two fifths of them with changed
// bytes, and changed parts of the manifests in FOLDER ("" for none). It
// prints one line for each kind of difference: the kind, its detail, the number
// of texts, and some minimized examples, quoted. Text number i of a seed is
// always the same. The last line counts the texts.
func yamlRandom(args []string, out *bufio.Writer) error {
	if len(args) != 4 {
		return fmt.Errorf("yaml-random DOC_DUMP N SEED FOLDER")
	}
	total, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	seed, err := strconv.ParseUint(args[2], 10, 64)
	if err != nil {
		return err
	}
	run := &randomRun{seed: seed, total: total, found: map[string]*example{}}
	if args[3] != "" {
		if run.pieces, err = manifestPieces(args[3]); err != nil {
			return err
		}
	}
	errs := make(chan error)
	for range runtime.NumCPU() {
		go func() { errs <- run.work(args[0]) }()
	}
	for range runtime.NumCPU() {
		if failed := <-errs; failed != nil {
			err = failed
		}
	}
	if err != nil {
		return err
	}
	return run.print(args[0], out)
}

const (
	batch    = 256
	examples = 6
)

// A randomRun is shared by the workers; the lock protects all fields below it.
type randomRun struct {
	seed   uint64
	total  int
	pieces []string

	lock  sync.Mutex
	next  int
	found map[string]*example
}

type example struct {
	count int
	texts [][]byte // the shortest ones
}

func (r *randomRun) work(program string) error {
	dump, err := startDump(program)
	if err != nil {
		return err
	}
	for {
		r.lock.Lock()
		first := r.next
		r.next = min(first+batch, r.total)
		end := r.next
		r.lock.Unlock()
		if first == end {
			return dump.stop()
		}
		var texts [][]byte
		for i := first; i < end; i++ {
			texts = append(texts, r.text(i))
		}
		kinds, err := dump.differences(texts)
		if err != nil {
			return err
		}
		r.note(texts, kinds)
	}
}

// note counts the texts of each kind, and keeps the shortest ones.
func (r *randomRun) note(texts [][]byte, kinds []string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	for i, kind := range kinds {
		if kind == "" {
			continue
		}
		one := r.found[kind]
		if one == nil {
			one = &example{}
			r.found[kind] = one
		}
		one.count++
		one.texts = append(one.texts, texts[i])
		sort.Slice(one.texts, func(a, b int) bool {
			return len(one.texts[a]) < len(one.texts[b])
		})
		one.texts = one.texts[:min(len(one.texts), examples)]
	}
}

func (r *randomRun) print(program string, out *bufio.Writer) error {
	dump, err := startDump(program)
	if err != nil {
		return err
	}
	var kinds []string
	for kind := range r.found {
		kinds = append(kinds, kind)
	}
	sort.Strings(kinds)
	for _, kind := range kinds {
		name, detail, _ := strings.Cut(kind, "\t")
		fmt.Fprintf(out, "%s\t%s\t%d", name, detail, r.found[kind].count)
		for _, text := range r.found[kind].texts {
			small, err := dump.shrink(text, kind)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "\t%q", small)
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "texts %d\n", r.total)
	return dump.stop()
}

// shrink removes parts of the text that the difference does not need.
func (d *dump) shrink(text []byte, kind string) ([]byte, error) {
	for size := len(text) / 2; size > 0; {
		var tries [][]byte
		for at := 0; at+size <= len(text); at += max(size/2, 1) {
			tries = append(tries, append(bytes.Clone(text[:at]),
				text[at+size:]...))
		}
		kinds, err := d.differences(tries)
		if err != nil {
			return nil, err
		}
		smaller := false
		for i := range kinds {
			if kinds[i] == kind && !smaller {
				text, smaller = tries[i], true
			}
		}
		if !smaller {
			size /= 2
		}
		size = min(size, len(text))
	}
	return text, nil
}

// yamlExamples DOC_DUMP LIST prints the lines of yaml-differences.txt that
// begin with "random" and whose example does not show their difference, with
// the difference that it shows. An example is one or more quoted texts, each of
// which may be followed by * and a repeat count.
func yamlExamples(args []string, out *bufio.Writer) error {
	if len(args) != 2 {
		return fmt.Errorf("yaml-examples DOC_DUMP LIST")
	}
	list, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	dump, err := startDump(args[0])
	if err != nil {
		return err
	}
	for _, line := range strings.Split(string(list), "\n") {
		columns := strings.Split(line, "\t")
		detail, random := strings.CutPrefix(columns[0], "random")
		if !random || len(columns) != 4 {
			continue
		}
		text, err := exampleText(columns[3])
		if err != nil {
			return fmt.Errorf("%s: %v", line, err)
		}
		kind := strings.TrimSuffix(
			columns[1]+"\t"+strings.TrimPrefix(detail, ": "), "\t")
		shown, err := dump.shows(text, kind)
		if err != nil {
			return err
		}
		if shown != kind {
			fmt.Fprintf(out, "%s: %q\n", line, shown)
		}
	}
	return dump.stop()
}

// shows returns the kind of difference of a text. Go's maps have no order, so
// the text is read a hundred times, and the wanted kind counts if one reading
// shows it.
func (d *dump) shows(text []byte, wanted string) (string, error) {
	texts := make([][]byte, 100)
	for i := range texts {
		texts[i] = text
	}
	kinds, err := d.differences(texts)
	if err != nil {
		return "", err
	}
	for _, kind := range kinds {
		if kind == wanted {
			return kind, nil
		}
	}
	return kinds[0], nil
}

func exampleText(example string) (text []byte, err error) {
	for example != "" {
		quoted, err := strconv.QuotedPrefix(example)
		if err != nil {
			return nil, err
		}
		part, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, err
		}
		times := 1
		example = example[len(quoted):]
		if n, _ := fmt.Sscanf(example, "*%d", &times); n == 1 {
			example = example[strings.IndexByte(example+" ", ' '):]
		}
		example = strings.TrimPrefix(example, " ")
		text = append(text, strings.Repeat(part, times)...)
	}
	return text, nil
}

// A mixer is a random source that is cheap to seed (splitmix64).
type mixer uint64

func (m *mixer) Seed(seed int64) { *m = mixer(seed) }

func (m *mixer) Int63() int64 { return int64(m.Uint64() >> 1) }

func (m *mixer) Uint64() uint64 {
	*m += 0x9e3779b97f4a7c15
	z := uint64(*m)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *randomRun) text(number int) []byte {
	source := mixer(r.seed<<40 + uint64(number)<<8)
	g := &yamlGenerator{random: rand.New(&source)}
	var text string
	switch kind := g.random.Intn(20); {
	case kind < 5 && len(r.pieces) > 0:
		text = g.one(r.pieces)
		for k := 1 + g.random.Intn(3); k > 0; k-- {
			text = g.mutateLines(text)
		}
	case kind < 12:
		text = g.file()
	case kind < 15:
		text = g.soup()
	default:
		text = g.jsonFile()
	}
	for k := g.random.Intn(5) - 2; k > 0; k-- {
		text = g.mutate(text)
	}
	return g.encode(text)
}

// soup returns random tokens in random order.
func (g *yamlGenerator) soup() string {
	g.text.Reset()
	for k := 1 + g.random.Intn(12); k > 0; k-- {
		if g.chance(3) {
			g.put(g.one(plainTexts))
		} else {
			g.put(g.one(bytesInYAML))
		}
	}
	return g.text.String()
}

// jsonFile returns JSON values, texts that kubectl treats as JSON, and YAML
// after them.
func (g *yamlGenerator) jsonFile() string {
	var text strings.Builder
	text.WriteString(g.one([]string{"", "", "", "", " ", "\n", "\u00a0", "\u2028"}))
	for k := 1 + g.random.Intn(3); k > 0; k-- {
		text.WriteString("{" + randomString(g.random) + ":" +
			randomValue(g.random, 3) + "}")
		text.WriteString(pick(g.random, spaces))
	}
	if g.chance(4) {
		text.WriteString(g.one([]string{"---\n", "\n---\n", "\n", " ", "[1]",
			"5", "\"a\"", "\ufeff", "\u2028", "x"}))
		text.WriteString(g.file())
	}
	if g.chance(8) {
		return mutate(g.random, text.String())
	}
	return text.String()
}

// mutateLines changes the lines and words of a manifest.
func (g *yamlGenerator) mutateLines(text string) string {
	lines := strings.SplitAfter(text, "\n")
	at := g.random.Intn(len(lines))
	line := lines[at]
	switch g.random.Intn(6) {
	case 0:
		lines[at] = ""
	case 1:
		lines[at] = line + line
	case 2:
		lines[at] = g.one(lines) + line
	case 3:
		lines[at] = strings.Repeat(" ", g.random.Intn(3)) + line
	case 4:
		lines[at] = strings.TrimPrefix(line, " ")
	default:
		key, _, found := strings.Cut(line, ": ")
		if !found {
			return g.mutate(text)
		}
		g.text.Reset()
		g.flow(len(key), 2)
		lines[at] = key + ": " + g.text.String() + "\n"
	}
	return strings.Join(lines, "")
}

// encode changes line ends, byte order marks and the encoding (UTF-16).
func (g *yamlGenerator) encode(text string) []byte {
	switch g.random.Intn(32) {
	case 0, 1:
		text = strings.ReplaceAll(text, "\n", "\r\n")
	case 2:
		text = strings.ReplaceAll(text, "\n", g.one(lineEnds))
	}
	switch g.random.Intn(32) {
	case 0:
		return append([]byte("\ufeff"), text...)
	case 1, 2:
		return g.utf16(text)
	}
	return []byte(text)
}

func (g *yamlGenerator) utf16(text string) (out []byte) {
	mark := g.random.Intn(2)
	for _, unit := range append([]uint16{0xfeff}, utf16.Encode([]rune(text))...) {
		if g.random.Intn(1000) == 0 {
			unit = uint16(0xd800 + g.random.Intn(0x800))
		}
		pair := []byte{byte(unit >> 8), byte(unit)}
		out = append(out, pair[mark], pair[1-mark])
	}
	if g.chance(16) {
		out = append(out, 'x')
	}
	return out
}

// manifestPieces returns the documents of the manifests: of each, the lines in
// the first 2,000 bytes.
func manifestPieces(folder string) (pieces []string, err error) {
	names, err := filesBelow(folder)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for _, piece := range strings.SplitAfter(string(text), "\n---\n") {
			if at := strings.LastIndexByte(
				piece[:min(len(piece), 2000)], '\n'); at > 0 {
				pieces = append(pieces, piece[:at+1])
			}
		}
	}
	return pieces, nil
}
