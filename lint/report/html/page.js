/* SPDX-License-Identifier: Apache-2.0 */
'use strict';
/* Adds the choice of the theme and, in a report, the filter, whose state is in
 * the address. Without this script, everything is shown. */
{
	const $ = id => document.getElementById(id);
	const root = document.documentElement;

	/* --- light and dark ------------------------------------------------ */

	const theme = $('theme');
	const dark = () => root.dataset.theme ? root.dataset.theme === 'dark'
		: matchMedia('(prefers-color-scheme: dark)').matches;
	const label = () => {
		theme.textContent = dark() ? 'Light' : 'Dark';
	};
	/* A page from a file may have no storage. */
	const stored = value => {
		try {
			if (value)
				localStorage.setItem('gpugate-theme', value);
			return localStorage.getItem('gpugate-theme');
		} catch {
			return null;
		}
	};
	const before = stored();

	if (before === 'dark' || before === 'light')
		root.dataset.theme = before;
	theme.hidden = false;
	theme.onclick = () => {
		root.dataset.theme = dark() ? 'light' : 'dark';
		stored(root.dataset.theme);
		label();
	};
	label();

	/* Print all of the page. */
	addEventListener('beforeprint', () => {
		for (const d of document.querySelectorAll('details'))
			d.open = true;
	});

	/* --- the filter ---------------------------------------------------- */

	const form = $('filter');
	const files = [...document.querySelectorAll('.file')].map(box => ({
		box,
		path: box.querySelector('h3').textContent,
		count: box.querySelector('summary span'),
		all: [...box.querySelectorAll('article')].map(at => ({
			at,
			severity: at.classList[0],
			rule: at.dataset.r,
			namespace: at.dataset.n || '(none)',
			text: null,
		})),
	}));
	const all = files.flatMap(f => f.all);

	const fill = (select, values) => {
		const counts = new Map();

		for (const v of values)
			counts.set(v, (counts.get(v) || 0) + 1);
		for (const v of [...counts.keys()].sort())
			select.add(new Option(`${v} (${counts.get(v)})`, v));
	};
	const textOf = (file, f) => f.text ??=
		`${file.path} ${f.at.textContent}`.toLowerCase();

	const apply = () => {
		const words = form.q.value.toLowerCase().split(/\s+/)
			.filter(Boolean);
		let shown = 0;

		for (const file of files) {
			let here = 0;

			for (const f of file.all) {
				const fits = form[f.severity].checked &&
					(!form.rule.value ||
					 form.rule.value === f.rule) &&
					(!form.namespace.value ||
					 form.namespace.value === f.namespace) &&
					(!form.file.value ||
					 form.file.value === file.path) &&
					words.every(w => textOf(file, f)
						.includes(w));

				f.at.hidden = !fits;
				here += fits;
			}
			file.box.hidden = !here;
			file.count.textContent = here === file.all.length ?
				here : `${here} of ${file.all.length}`;
			shown += here;
		}
		form.count.value = shown === all.length ?
			`${shown} findings` : `${shown} of ${all.length} findings`;
	};

	const state = ['q', 'rule', 'namespace', 'file'];
	const remember = () => {
		const query = new URLSearchParams();

		for (const name of state)
			if (form[name].value)
				query.set(name, form[name].value);
		for (const name of ['e', 'w', 'i'])
			if (!form[name].checked)
				query.set(name, 0);
		/* A page in a frame, or from a file, may have no history. */
		try {
			history.replaceState(null, '', `#${query}`);
		} catch {
			return;
		}
	};
	const recall = () => {
		const query = new URLSearchParams(location.hash.slice(1));

		for (const name of state)
			form[name].value = query.get(name) || '';
		for (const name of ['e', 'w', 'i'])
			form[name].checked = query.get(name) !== '0';
		apply();
	};
	const change = () => {
		apply();
		remember();
	};

	/* j and k go from finding to finding, / to the search. */
	const move = step => {
		const list = all.filter(f => !f.at.hidden).map(f => f.at);
		const now = list.indexOf(document.activeElement
			.closest('article'));
		const next = list[now < 0 ? 0 : now + step];

		if (!next)
			return;
		next.closest('details').open = true;
		next.focus();
		next.scrollIntoView({block: 'nearest'});
	};
	const keys = {
		j: () => move(1),
		k: () => move(-1),
		'/': () => form.q.focus(),
	};

	if (form) {
		fill(form.rule, all.map(f => f.rule));
		fill(form.namespace, all.map(f => f.namespace));
		fill(form.file, files.flatMap(f => f.all.map(() => f.path)));
		for (const f of all)
			f.at.tabIndex = -1;
		for (const cell of document.querySelectorAll('td[data-rule]')) {
			const button = document.createElement('button');

			button.type = 'button';
			button.textContent = cell.firstChild.textContent;
			button.setAttribute('aria-label',
				`Show the ${button.textContent} findings of ` +
				cell.dataset.rule);
			button.onclick = () => {
				form.reset();
				form.rule.value = cell.dataset.rule;
				change();
				$('findings').scrollIntoView();
			};
			cell.firstChild.replaceWith(button);
		}
		form.hidden = false;
		form.onsubmit = () => false;
		form.oninput = change;
		form.onreset = () => setTimeout(change);
		addEventListener('hashchange', recall);
		addEventListener('keydown', event => {
			const typing = event.target.matches('input, select');

			if (event.key === 'Escape' && typing)
				event.target.blur();
			else if (!typing && !event.ctrlKey && !event.metaKey &&
				 !event.altKey && keys[event.key]) {
				event.preventDefault();
				keys[event.key]();
			}
		});
		recall();
	}
}
