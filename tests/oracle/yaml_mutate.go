// SPDX-License-Identifier: Apache-2.0

// Writes random YAML documents in all styles.

package main

import (
	"fmt"
	"math/rand"
	"strings"
)

// A yamlGenerator writes documents; anchors are those of the current document.
type yamlGenerator struct {
	random  *rand.Rand
	text    strings.Builder
	anchors []string
	maps    []string
}

var (
	plainTexts = strings.Fields(`a b name nvidia.com/gpu y Y yes Yes YES yEs
		n N no No NO on On ON off Off OFF oN true True TRUE tRUE false
		False FALSE ~ null Null NULL nULL 0 1 -1 +1 00 0777 08 09.5 0o17
		0O17 0x1F 0XfF 0x 0b101 0B1 0b-1 0b+1 0b2 -0b11 -0x1 +0o7 1_000
		1__0 _1 -_1 0_8 0_7 0x_1 1. .5 -.5 +.5 . .. 1e3 1E+3 1e-3 1e
		1.5e 1e400 -1e400 1e-400 .5_0 ._5 .5_ 1_0.5 0x1p-2 Infinity NaN
		inf .inf -.Inf +.INF .nan .NaN .iNf 9223372036854775807
		9223372036854775808 -9223372036854775808 -9223372036854775809
		18446744073709551615 18446744073709551616 +9223372036854775808
		0xffffffffffffffff 0x1ffffffffffffffff 1777777777777777777777
		01777777777777777777777 07777777777777777777777 123456789012.5
		2001-01-01 2001-01-01T00:00:00Z 12:30:45 1:30 1.0 1.10 1e6 1e21
		1e20 123456.7 0.000001 0.0000001 1.5 2.50 100000000000000000000
		3.4e38 3.5e38 1e10 16777217.0 0.1 5e-324 1e999 -1E+999 190:20:30 190:20:30.15 -1:00
		1__0.5 0b 0o 0o8 08.1 -.5e3 +1_0 0b1_1 1e+ .e1 1.e1 1._5 é 日本 a#b -- - :a a:b
		<< <<x =x 1m 500Mi 1Gi 10.0.0.1 v1 1,000 $HOME ${X} /bin/sh -c`)
	quotedParts = []string{"a", " ", "\\n", "\\\"", "\\x41", "\\u00e9", "é",
		"\\U0001F600", "1", "true", "\\\n  ", "\n", "\\t", "\t", "\\e",
		"\\_", "\\N", "\\P", "\\0", "'", ": ", " #", "日", "\\ud800", "\\/",
		"\\ud83d\\ude00", "\\UD800DC00", "\\L", "\\ ", "\\x4", "\ufeff",
		"\u2028", "\u0085", "\r\n", "\r\r\n", "\\\r\n"}
	singleParts = []string{"a", " ", "''", "\\", "é", "1", "no", "\n", ": ",
		" #", "\"", "\n\n", "\t"}
	lineEnds = []string{"\n", "\n", "\n", "\n", "\n", "\n", "\n", "\n", "\n",
		"\n", "\r\n", "\r\r\n", "\r", "\u2028", "\u2029", "\u0085", "\n\n", " \n"}
	tags = []string{"!!str ", "!!int ", "!!float ", "!!bool ", "!!null ",
		"!!binary ", "!!timestamp ", "!foo ", "! ", "!!map ",
		"!<tag:yaml.org,2002:str> ", "!!merge ", "!!set "}
	bytesInYAML = []string{"{", "}", "[", "]", ", ", ": ", "\"", "'", "- ",
		"#", " #", "&a ", "*a", "|", ">", "!", "%", "@", "`", "\t", "\n",
		"\r", "\r\n", " ", "  ", "\n---\n", "\n...\n", "\n--- a\n", "---",
		"\ufeff", "\u0085", "\u2028", "é", "😀", "\x00", "\x7f", "\x1b",
		"0", "_", "<<: ", "~", "\n\n", "\xff", "? ", ":", "%TAG ! x\n", "\r\r\n",
		"\u2029", "\u00a0", "\xed\xa0\x80", "\ufffe", "%YAML 1.1\n---\n", "<<",
		"\\ud800", "*", "&", "--- ", "|2\n", ">+\n", "{a: 1}", "[1]", "\v",
		"\u0085\n", "\U0010ffff", "!!", "!<", "\"a\": "}
)

func (g *yamlGenerator) one(from []string) string {
	return from[g.random.Intn(len(from))]
}

func (g *yamlGenerator) chance(of int) bool {
	return g.random.Intn(of) == 0
}

func (g *yamlGenerator) put(parts ...string) {
	for _, part := range parts {
		g.text.WriteString(part)
	}
}

func (g *yamlGenerator) file() string {
	g.text.Reset()
	for k := 1 + g.random.Intn(3); k > 0; k-- {
		g.anchors, g.maps = nil, nil
		if g.chance(4) {
			g.put("# comment é\n")
		}
		if g.chance(16) {
			g.put(g.one([]string{"%YAML 1.1\n---\n", "%TAG !x! a:b\n---\n",
				"\ufeff", "\ufeff---\n", "---\t\n", "%FOO\n---\n"}))
		}
		g.block(0, 3)
		if k > 1 {
			g.put(g.one([]string{"---\n", "--- # é\n", "---\r\n",
				"---\n---\n", "---\n", "---\n", "---\r\r\n",
				"---\u2028\n", "--- a\n", "...\n---\n", "\n---"}))
		} else if g.chance(8) {
			g.put("...\n", g.one([]string{"", "# end\n", "a: 1\n"}))
		}
	}
	text := g.text.String()
	if g.chance(8) {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if g.chance(8) {
		text = strings.TrimRight(text, "\n")
	}
	return text
}

// block writes a value with indented lines, up to the end of its last line.
func (g *yamlGenerator) block(indent, depth int) {
	kind := g.random.Intn(10)
	switch {
	case depth == 0 || kind == 9 && indent > 0:
		g.put(strings.Repeat(" ", indent))
		g.flow(indent, 2)
		g.put("\n")
	case kind < 6:
		g.blockMap(indent, depth)
	default:
		g.blockList(indent, depth)
	}
}

func (g *yamlGenerator) blockMap(indent, depth int) {
	for k := 1 + g.random.Intn(4); k > 0; k-- {
		g.put(strings.Repeat(" ", indent))
		if g.chance(10) && len(g.maps) > 0 {
			g.merge()
			continue
		}
		if g.chance(20) {
			g.put("? ")
			if g.chance(4) {
				g.flow(indent+2, 1)
			} else {
				g.scalar(indent + 2)
			}
			g.put("\n", strings.Repeat(" ", indent))
		} else {
			g.key()
		}
		g.put(":")
		g.value(indent, depth)
	}
}

func (g *yamlGenerator) merge() {
	if g.chance(3) {
		g.put("<<: [*", g.one(g.maps), ", *", g.one(g.maps),
			", {a: 1}]\n")
		return
	}
	g.put("<<: *", g.one(g.maps), "\n")
}

func (g *yamlGenerator) blockList(indent, depth int) {
	for k := 1 + g.random.Intn(3); k > 0; k-- {
		g.put(strings.Repeat(" ", indent), "-")
		g.value(indent, depth)
	}
}

// value writes the text after "key:" or "-".
func (g *yamlGenerator) value(indent, depth int) {
	switch g.random.Intn(12) {
	case 0:
		g.put("\n")
	case 1:
		g.blockScalar(indent)
	case 2, 3, 4:
		if depth == 0 {
			g.put(" x\n")
			return
		}
		name := g.anchor()
		g.put("\n")
		list := g.chance(3)
		if list {
			g.blockList(indent+1, depth-1)
		} else {
			g.blockMap(indent+1+g.random.Intn(3), depth-1)
		}
		if name != "" {
			g.anchors = append(g.anchors, name)
		}
		if name != "" && (!list || g.chance(8)) {
			g.maps = append(g.maps, name)
		}
	default:
		g.put(" ")
		g.flow(indent+1, 2)
		if g.chance(8) {
			g.put(g.one([]string{" # comment", "\t# comment", "# no",
				" #é\u2028x: 1"}))
		}
		if g.chance(8) {
			g.put(g.one(lineEnds))
		} else {
			g.put("\n")
		}
	}
}

func (g *yamlGenerator) anchor() string {
	if !g.chance(3) {
		return ""
	}
	name := fmt.Sprintf("x%d", g.random.Intn(4))
	g.put(" &", name)
	return name
}

func (g *yamlGenerator) blockScalar(indent int) {
	g.put(" ", g.one([]string{"|", ">", "|-", ">-", "|+", ">+", "|2", ">1-",
		"|-3", ">+2", "| # note", ">9", "|0", "!!str |", "&x0 >-"}),
		g.one(lineEnds))
	for k := g.random.Intn(4); k >= 0; k-- {
		pad := indent + 1 + g.random.Intn(3)
		g.put(strings.Repeat(" ", pad), g.one([]string{"text é", "a: b",
			"- x", "# no", "", "", "  more", "... ", "tab\t", "\ttab", "--- x", "...",
			"long " + strings.Repeat("word ", g.random.Intn(40)),
			"\u2028x", "x\ufeff"}), g.one(lineEnds))
	}
}

func (g *yamlGenerator) flow(indent, depth int) {
	kind := g.random.Intn(8)
	if depth == 0 || kind < 5 {
		g.scalar(indent)
		return
	}
	g.put(g.one([]string{"", "", "", "&" + fmt.Sprintf("x%d ", g.random.Intn(4))}))
	open, end := "[", "]"
	if kind > 5 {
		open, end = "{", "}"
	}
	g.put(open)
	for k := g.random.Intn(4); k > 0; k-- {
		if kind > 5 || g.chance(6) {
			g.key()
			g.put(": ")
		}
		g.flow(indent, depth-1)
		if k > 1 || g.chance(4) {
			g.put(g.one([]string{", ", ",", " , ", ",\n" +
				strings.Repeat(" ", indent+1)}))
		}
	}
	g.put(end)
}

func (g *yamlGenerator) key() {
	switch g.random.Intn(8) {
	case 0:
		g.put(g.one(plainTexts))
	case 1:
		g.put("\"", g.one(quotedParts[:8]), "\"")
	default:
		g.put(g.one([]string{"a", "b", "name", "c d", "limits"}))
	}
}

func (g *yamlGenerator) scalar(indent int) {
	if len(g.anchors) > 0 && g.chance(6) {
		g.put("*", g.one(g.anchors), " ")
		return
	}
	if g.chance(12) {
		if name := g.anchor(); name != "" {
			g.anchors = append(g.anchors, name)
		}
		g.put(" ")
	}
	if g.chance(8) {
		g.put(g.one(tags))
	}
	switch g.random.Intn(8) {
	case 0:
		g.quoted("\"", quotedParts)
	case 1:
		g.quoted("'", singleParts)
	case 2:
		g.put("two words")
		if g.chance(16) {
			g.put(strings.Repeat(" long", g.random.Intn(300)))
		}
		if g.chance(3) {
			g.put(g.one(lineEnds), strings.Repeat(" ", indent+1), "more")
		}
	default:
		g.put(g.one(plainTexts))
	}
}

func (g *yamlGenerator) quoted(mark string, parts []string) {
	g.put(mark)
	for k := g.random.Intn(6); k > 0; k-- {
		g.put(g.one(parts))
	}
	g.put(mark)
}

func (g *yamlGenerator) mutate(text string) string {
	at := g.random.Intn(len(text) + 1)
	end := min(at+g.random.Intn(4), len(text))
	switch g.random.Intn(5) {
	case 0:
		return text[:at] + text[end:]
	case 1:
		return text[:end] + text[at:]
	case 2:
		return text[:at]
	default:
		return text[:at] + g.one(bytesInYAML) + text[end:]
	}
}
