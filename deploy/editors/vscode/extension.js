// SPDX-License-Identifier: Apache-2.0
// Starts `gpugate lsp` for YAML and JSON files.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = async () => {
	const settings = workspace.getConfiguration("gpugate");

	client = new LanguageClient(
		"gpugate",
		{
			command: settings.get("path"),
			args: ["lsp", ...settings.get("arguments")],
		},
		{
			documentSelector: ["yaml", "json"].map((language) => ({
				scheme: "file",
				language,
			})),
		},
	);
	await client.start();
};

exports.deactivate = () => client?.stop();
