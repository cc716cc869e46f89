/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a line like the parser of options, but without reporting errors.
 */
#include "cli/complete.h"

#include <string.h>

#include "base/text.h"

enum { MEANING_MOST = 70 };

/* --- offers --------------------------------------------------------------- */

/* Adds the first sentence, or its start if it is too long; on one line. */
static void add_meaning(struct buf *out, const char *text)
{
	const char *stop = strstr(text, ". ");
	size_t len = stop ? (size_t)(stop - text) : strlen(text);

	if (len && text[len - 1] == '.')
		len--;
	if (len > MEANING_MOST)
		for (len = MEANING_MOST; len && text[len] != ' ';)
			len--;
	for (size_t i = 0; i < len; i++)
		buf_addc(out,
			 text[i] == '\n' || text[i] == '\t' ? ' ' : text[i]);
}

void complete_offer(struct completion *c, const char *name, const char *what)
{
	if (!text_starts(name, c->word))
		return;
	buf_add(c->out, c->kept, c->nkept);
	buf_adds(c->out, name);
	if (what && *what) {
		buf_addc(c->out, '\t');
		add_meaning(c->out, what);
	}
	buf_addc(c->out, '\n');
}

void complete_offer_words(struct completion *c, const char *words)
{
	while (*(words += strspn(words, " "))) {
		size_t len = strcspn(words, " ");
		struct buf word;

		buf_init(&word);
		buf_add(&word, words, len);
		complete_offer(c, word.data, NULL);
		buf_release(&word);
		words += len;
	}
}

/* --- the line ------------------------------------------------------------- */

static const struct option *find_option(const struct complete_set *set,
					unsigned bit, const char *name,
					size_t len, char letter)
{
	for (size_t i = 0; i < set->options->n; i++) {
		const struct option *o = &set->options->items[i];

		if (!(o->commands & bit))
			continue;
		if (letter ? o->letter == letter
			   : strlen(o->name) == len &&
				     !memcmp(o->name, name, len))
			return o;
	}
	return NULL;
}

/* Returns the option whose value is the next word. */
static const struct option *expected(const struct complete_set *set,
				     unsigned bit, const char *word)
{
	const struct option *o = NULL;

	if (*word != '-' || !word[1] || strchr(word, '='))
		return NULL;
	if (word[1] == '-')
		o = find_option(set, bit, word + 2, strlen(word + 2), 0);
	for (const char *c = word + 1; word[1] != '-' && *c; c++) {
		o = find_option(set, bit, NULL, 0, *c);
		if (o && o->value)
			return c[1] ? NULL : o;
	}
	return o && o->value ? o : NULL;
}

static void keep_offers(struct completion *c, size_t n)
{
	c->nkept += n;
	c->word += n;
}

static void offer_value(const struct complete_set *set, struct completion *c,
			const struct option *o, unsigned bit)
{
	const char *comma = strrchr(c->word, ',');

	if (o && o->kind == OPTION_WORDS) {
		keep_offers(c, comma ? (size_t)(comma + 1 - c->word) : 0);
		c->directive = COMPLETE_NO_SPACE;
	}
	if (o && o->choices) {
		complete_offer_words(c, o->choices);
		c->directive |= COMPLETE_NO_FILES;
	} else {
		set->values(c, o, bit);
	}
}

static void offer_options(const struct complete_set *set, struct completion *c,
			  unsigned bit)
{
	struct buf name;

	buf_init(&name);
	for (size_t i = 0; i < set->options->n; i++) {
		const struct option *o = &set->options->items[i];

		if (!(o->commands & bit))
			continue;
		buf_reset(&name);
		buf_addf(&name, "--%s", o->name);
		complete_offer(c, name.data, o->help);
	}
	buf_release(&name);
	c->directive = COMPLETE_NO_FILES;
}

static void offer_commands(const struct complete_set *set, struct completion *c)
{
	for (size_t i = 0; i < set->n; i++)
		complete_offer(c, set->commands[i].name,
			       set->commands[i].summary);
	c->directive = COMPLETE_NO_FILES;
}

static void offer_word(const struct complete_set *set, struct completion *c,
		       unsigned bit, char **words)
{
	const struct option *o = NULL;
	const char *equals = strchr(c->word, '=');
	bool plain = false;

	for (; words[1]; words++) {
		plain |= !o && !strcmp(*words, "--");
		o = o || plain ? NULL : expected(set, bit, *words);
	}
	if (!o && !plain && text_starts(c->word, "--") && equals) {
		o = find_option(set, bit, c->word + 2,
				(size_t)(equals - c->word - 2), 0);
		c->directive = COMPLETE_NO_FILES;
		keep_offers(c, (size_t)(equals + 1 - c->word));
		if (o && o->value)
			offer_value(set, c, o, bit);
	} else if (!o && !plain && *c->word == '-') {
		offer_options(set, c, bit);
	} else {
		offer_value(set, c, o, bit);
	}
}

void complete_line(const struct complete_set *set, char **words,
		   struct buf *out)
{
	static char nothing[] = "", *none[] = {nothing, NULL};
	struct completion c = {.out = out,
			       .words = *words ? words : none,
			       .directive = COMPLETE_FILES};
	struct complete_set of = *set;
	unsigned bit = 0;
	size_t n = 0;

	while (c.words[n + 1])
		n++;
	c.word = c.kept = c.words[n];
	for (size_t i = 0; n && i < set->n; i++) {
		const struct complete_command *command = &set->commands[i];

		if (strcmp(command->name, *c.words) != 0)
			continue;
		bit = command->bit;
		if (command->options)
			of.options = command->options;
	}
	if (!n && *c.word != '-')
		offer_commands(set, &c);
	else if (bit)
		offer_word(&of, &c, bit, c.words + 1);
	else if (set->without && **c.words == '-')
		offer_word(set, &c, set->without, c.words);
	else
		c.directive = COMPLETE_NO_FILES;
	buf_addf(out, ":%u\n", c.directive);
}

/* --- scripts -------------------------------------------------------------- */

/* ` is replaced by the first name. */
static const char bash_script[] =
	"_`() {\n"
	"\tlocal word piece line directive=0 i\n"
	"\tlocal -a words=()\n"
	"\t# bash parts words at : and =, too.\n"
	"\tfor ((i = 1; i <= COMP_CWORD; i++)); do\n"
	"\t\tword=${COMP_WORDS[i]}\n"
	"\t\tif [[ ${#words[@]} -gt 0 && ($word =~ ^[:=]+$ ||\n"
	"\t\t\t${COMP_WORDS[i - 1]} =~ ^[:=]+$) ]]; then\n"
	"\t\t\twords[${#words[@]} - 1]+=$word\n"
	"\t\telse\n"
	"\t\t\twords+=(\"$word\")\n"
	"\t\tfi\n"
	"\tdone\n"
	"\tword=${words[${#words[@]} - 1]} piece=${COMP_WORDS[COMP_CWORD]}\n"
	"\t[[ ! $piece =~ ^[:=]+$ ]] || piece=\n"
	"\tCOMPREPLY=()\n"
	"\twhile IFS= read -r line; do\n"
	"\t\tcase $line in\n"
	"\t\t:*) directive=${line#:} ;;\n"
	"\t\t*) line=${line%%$'\\t'*}\n"
	"\t\t\tCOMPREPLY+=(\"${line:${#word} - ${#piece}}\") ;;\n"
	"\t\tesac\n"
	"\tdone < <(\"$1\" __complete \"${words[@]}\" 2>/dev/null)\n"
	"\t((!(directive & 2))) || compopt -o nospace 2>/dev/null\n"
	"\t((${#COMPREPLY[@]} || directive & 4)) ||\n"
	"\t\tcompopt -o default -o filenames 2>/dev/null\n"
	"\treturn 0\n"
	"}\n"
	"complete -F _` ";

static const char zsh_script[] =
	"_`() {\n"
	"\tlocal line directive=0\n"
	"\tlocal -a offers meanings more\n"
	"\tfor line in \"${(@f)$(\"${(Q)words[1]}\" __complete "
	"\"${(@Q)words[2,CURRENT]}\" 2>/dev/null)}\"; do\n"
	"\t\tcase $line in\n"
	"\t\t:<->) directive=${line#:} ;;\n"
	"\t\t?*) offers+=(\"${line%%$'\\t'*}\")\n"
	"\t\t\tmeanings+=(\"${line/$'\\t'/  -- }\") ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"\t((!(directive & 2))) || more=(-S '')\n"
	"\tif (($#offers)); then\n"
	"\t\tcompadd -l -d meanings \"$more[@]\" -a offers\n"
	"\telif ((!(directive & 4))); then\n"
	"\t\tcompset -P '*[:=]'\n"
	"\t\t_files\n"
	"\tfi\n"
	"}\n"
	"# Read by compinit it is the function, else it defines it.\n"
	"if [[ $funcstack[1] == _` ]]; then\n"
	"\t_`\n"
	"else\n"
	"\tcompdef _` ";

static const char fish_script[] =
	"function __`_complete\n"
	"\tset -l words (commandline -opc)\n"
	"\tset -l word (commandline -ct)\n"
	"\tset -l offers ($words[1] __complete $words[2..] \"$word\" "
	"2>/dev/null)\n"
	"\tset -l directive \"$offers[-1]\"\n"
	"\tset -e offers[-1]\n"
	"\tif test (count $offers) -gt 0\n"
	"\t\tprintf '%s\\n' $offers\n"
	"\telse if contains -- \"$directive\" :0 :2\n"
	"\t\t__fish_complete_path \"$word\"\n"
	"\tend\n"
	"end\n";

static void add_script(struct buf *out, const char *script, const char *name,
		       size_t len)
{
	for (; *script; script++)
		if (*script == '`')
			buf_add(out, name, len);
		else
			buf_addc(out, *script);
}

bool complete_script(const char *shell, const char *names, struct buf *out)
{
	size_t len = strcspn(names, " ");

	if (!strcmp(shell, "bash")) {
		add_script(out, bash_script, names, len);
		buf_addf(out, "%s\n", names);
	} else if (!strcmp(shell, "zsh")) {
		buf_addf(out, "#compdef %s\n", names);
		add_script(out, zsh_script, names, len);
		buf_addf(out, "%s\nfi\n", names);
	} else if (!strcmp(shell, "fish")) {
		add_script(out, fish_script, names, len);
		for (const char *at = names; *at; at += strspn(at, " ")) {
			size_t n = strcspn(at, " ");

			buf_addf(out,
				 "complete -c %.*s -f -a "
				 "'(__%.*s_complete)'\n",
				 (int)n, at, (int)len, names);
			at += n;
		}
	} else {
		return false;
	}
	return true;
}
