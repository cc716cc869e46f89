// SPDX-License-Identifier: Apache-2.0
// Checks the pages of html.sh in a browser. Prints a line `ok WHAT` or
// `FAIL WHAT` for each check. Times are only printed.
// usage: node html_browser.js CHROMIUM FOLDER [SCREENSHOTS]
'use strict';
const fs = require('fs');
const path = require('path');
const {chromium} = require('playwright-core');

const [program, folder, shots] = process.argv.slice(2);
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const flags = '--no-sandbox --disable-gpu --disable-quic --no-first-run ' +
	'--disable-background-networking --disable-component-update ' +
	'--disable-sync';
let failed = 0;

function check(what, holds, ...more) {
	if (!holds)
		failed++;
	console.log(holds ? 'ok' : 'FAIL', what, ...(holds ? [] : more));
}

// Opens a file in a new page. `said` gets the page's requests for other files,
// its console messages and its errors.
async function open(browser, name, options = {}) {
	const context = await browser.newContext({
		viewport: {width: 1280, height: 1000}, ...options});
	const page = await context.newPage();
	const url = `file://${path.join(folder, name)}`;
	const said = [];

	page.on('request', r => {
		if (r.url().split('#')[0] !== url)
			said.push(r.url());
	});
	page.on('console', m => said.push(m.text()));
	page.on('pageerror', e => said.push(String(e)));
	await page.goto(url + (options.hash || ''));
	return {page, said, close: () => context.close()};
}

async function shoot(page, name) {
	if (shots)
		await page.screenshot({path: path.join(shots, `${name}.png`)});
}

async function check_axe(page, what) {
	await page.evaluate(axe);
	const found = await page.evaluate(() => axe.run(document, {
		resultTypes: ['violations']}));

	check(`axe: ${what}`, !found.violations.length, JSON.stringify(
		found.violations.map(v => [v.id, v.nodes.length,
			v.nodes[0].html.slice(0, 200),
			v.nodes[0].failureSummary.slice(0, 300)]), null, 1));
}

async function check_many(browser) {
	const begin = Date.now();
	const {page, said, close} = await open(browser, 'many.html');
	await page.evaluate(() => new Promise(done =>
		requestAnimationFrame(() => setTimeout(done))));
	const bytes = fs.statSync(path.join(folder, 'many.html')).size;
	const n = await page.locator('article').count();

	console.log(`many.html: ${n} findings, ${bytes} bytes,`,
		`shown after ${Date.now() - begin} ms`);
	check('at least 2,000 findings', n >= 2000, n);
	check('at most 3 MB for 2,000 findings', bytes / n * 2000 < 3e6);
	await shoot(page, 'many-light');
	await check_filter(page, n);
	await check_keyboard(page);
	check('many: no request, nothing on the console', !said.length, said);
	await close();
}

const visible = page => page.evaluate(() => [...document.querySelectorAll(
	'article')].filter(a => !a.hidden && !a.closest('.file').hidden).length);
const output = page => page.evaluate(() =>
	document.querySelector('#filter output').value);

async function check_filter(page, all) {
	const rule = page.locator('select[name=rule]');
	const word = (await rule.locator('option').nth(1).textContent())
		.match(/^(\S+) \((\d+)\)$/);

	check('all are shown', await visible(page) === all);
	await rule.selectOption(word[1]);
	check('a rule', await visible(page) === +word[2], word[0]);
	check('how many of them', await output(page) ===
		`${word[2]} of ${all} findings`, await output(page));
	check('it is in the address', page.url().includes(`rule=${word[1]}`),
		page.url());
	await page.reload();
	check('and stays with it', await visible(page) === +word[2]);
	await page.locator('#filter button[type=reset]').click();
	await page.waitForFunction(() => !location.hash.includes('rule'));
	check('clear', await visible(page) === all);
	for (const name of ['w', 'i'])
		await page.locator(`input[name=${name}]`).uncheck();
	check('a severity', await visible(page) ===
		await page.locator('article.e').count());
	await page.locator('#filter button[type=reset]').click();
	await page.waitForFunction(() => !location.hash.includes('w='));
	await page.locator('input[name=q]').fill('SHM-missing emptyDir');
	const found = await visible(page);

	check('a text', found > 0 && found < all, found);
	await page.locator('input[name=q]').fill('no such words at all');
	check('a text that is nowhere', await visible(page) === 0);
	await page.locator('input[name=q]').fill('');
	await page.locator('select[name=namespace]').selectOption({index: 1});
	check('a namespace', await visible(page) < all);
	await page.locator('select[name=namespace]').selectOption('');
	await page.locator('select[name=file]').selectOption({index: 3});
	check('a file', await page.locator('.file:not([hidden])').count() === 1);
	await page.locator('select[name=file]').selectOption('');
	await page.locator('td[data-rule] button').first().click();
	await page.waitForFunction(() => location.hash.includes('rule='));
	check('the number of a rule', await visible(page) ===
		+await page.locator('td[data-rule] button').first()
			.textContent());
	await page.locator('#filter button[type=reset]').click();
	await page.waitForFunction(() => !location.hash.includes('rule'));
}

async function check_keyboard(page) {
	const focused = () => page.evaluate(() => {
		const at = document.activeElement;

		return at.name || at.id || at.className || at.tagName;
	});
	const index = () => page.evaluate(() => [...document.querySelectorAll(
		'article')].indexOf(document.activeElement));

	await page.reload();
	await page.keyboard.press('Tab');
	check('the first tab skips to the findings', await focused() === 'skip');
	await page.keyboard.press('/');
	check('/ is the search', await focused() === 'q');
	await page.keyboard.type('j');
	check('letters are text there', await page.locator('input[name=q]')
		.inputValue() === 'j');
	await page.keyboard.press('Backspace');
	await page.keyboard.press('Escape');
	await page.keyboard.press('j');
	await page.keyboard.press('j');
	check('j is the next finding', await index() === 1, await index());
	check('which is in sight', await page.evaluate(() => {
		const at = document.activeElement.getBoundingClientRect();

		return at.top >= 0 && at.top < innerHeight;
	}));
	await page.keyboard.press('k');
	check('k is the one before', await index() === 0);
	await page.locator('.file summary').first().focus();
	await page.keyboard.press('Enter');
	check('Enter closes a file', !await page.locator('.file').first()
		.evaluate(f => f.open));
}

async function check_themes(browser, name) {
	for (const colorScheme of ['light', 'dark']) {
		const {page, said, close} =
			await open(browser, name, {colorScheme});

		await shoot(page, `${name}-${colorScheme}`);
		await check_axe(page, `${name}, ${colorScheme}`);
		check(`${name}, ${colorScheme}: no request, nothing on the ` +
			'console', !said.length, said);
		await close();
	}
}

// Checks only the first twelve files, because axe would take long for all.
async function check_axe_many(browser) {
	for (const colorScheme of ['light', 'dark']) {
		const {page, close} = await open(browser, 'many.html',
			{colorScheme});

		await page.evaluate(() => {
			for (const file of [...document.querySelectorAll(
				'.file')].slice(12))
				file.remove();
		});
		await check_axe(page, `many.html, ${colorScheme}`);
		await close();
	}
}

async function check_theme_button(browser) {
	const {page, close} = await open(browser, 'few.html');
	const ground = () => page.evaluate(() =>
		getComputedStyle(document.body).backgroundColor);
	const light = await ground();

	check('the button says dark', await page.locator('#theme')
		.textContent() === 'Dark');
	await page.locator('#theme').click();
	check('and makes it dark', await ground() !== light &&
		await page.locator('#theme').textContent() === 'Light');
	await page.emulateMedia({media: 'print'});
	check('what is suppressed is listed', await page.locator(
		'td', {hasText: 'raised soon'}).count() === 1);
	check('print is light', await ground() === 'rgb(255, 255, 255)',
		await ground());
	check('and has no filter', !await page.locator('#filter').isVisible());
	if (shots)
		await page.pdf({path: path.join(shots, 'few.pdf')});
	await close();
}

async function check_no_script(browser) {
	const {page, close} = await open(browser, 'few.html',
		{javaScriptEnabled: false});

	check('without script the findings are there', await page.locator(
		'article').first().isVisible());
	check('and no filter that does nothing', !await page.locator('#filter')
		.isVisible() && !await page.locator('#theme').isVisible());
	await close();
}

// On the screen of a telephone, nothing may exceed the right edge. Drawings and
// code may, because they scroll in their own boxes.
async function check_narrow(browser) {
	for (const name of ['few', 'many', 'quotas', 'quota']) {
		const {page, close} = await open(browser, `${name}.html`,
			{viewport: {width: 390, height: 844}});
		const wide = await page.evaluate(() => {
			const box = document.documentElement;
			const out = [...document.querySelectorAll('body *')]
				.filter(e => e.getClientRects().length &&
					e.getBoundingClientRect().right > innerWidth + 1)
				.filter(e => !e.closest('svg, pre'));

			return (box.scrollWidth > innerWidth ?
				[`page ${box.scrollWidth}`] : []).concat(
				out.slice(0, 5).map(e => `${e.tagName}.` +
					`${e.className} ${e.textContent.slice(0, 40)}`));
		});

		check(`narrow: ${name} fits 390 px`, !wide.length, wide);
		await shoot(page, `${name}-narrow`);
		await close();
	}
}

// A script that was added to the page must not run.
async function check_policy(browser) {
	const {page, said, close} = await open(browser, 'few.html');

	await page.evaluate(() => {
		const script = document.createElement('script');

		script.textContent = 'window.broken = 1';
		document.body.append(script);
		document.body.insertAdjacentHTML('beforeend',
			'<img src="https://example.com/x.png" onerror="broken=1">');
	});
	await page.waitForTimeout(100);
	check('a smuggled script does not run', await page.evaluate(() =>
		window.broken === undefined));
	check('nor is a smuggled picture loaded', said.some(s =>
		s.startsWith('Loading the image') &&
		s.includes('has been blocked')), said);
	await close();
}

async function main() {
	const browser = await chromium.launch({executablePath: program,
		args: flags.split(' ')});

	await check_many(browser);
	await check_axe_many(browser);
	for (const name of ['few.html', 'quotas.html', 'quota.html'])
		await check_themes(browser, name);
	await check_theme_button(browser);
	await check_no_script(browser);
	await check_narrow(browser);
	await check_policy(browser);
	await browser.close();
	process.exit(failed ? 1 : 0);
}

main().catch(error => {
	console.log('FAIL', error);
	process.exit(1);
});
