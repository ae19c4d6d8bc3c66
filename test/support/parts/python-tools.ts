import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pythonTools } from '../../../scripts/parts/pinned-folder.ts';

/**
 * Validates the manifests in a file against the schemas of that version of Kubernetes, which allow no unknown property.
 * Returns the errors. Kinds that do not belong to Kubernetes have no schema, and must not be in the file.
 */
export async function faultsOfManifests(file: string, version: string): Promise<string> {
  const program = join(await toolsFolder(), 'bin', 'kubernetes-validate');
  return await runPython([program, '--strict', '--quiet', '--kubernetes-version', version, file]);
}

const PARSER = `
import sys, tree_sitter, tree_sitter_powershell
parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_powershell.language()))
nodes = [parser.parse(sys.stdin.buffer.read()).root_node]
while nodes:
    node = nodes.pop()
    nodes.extend(node.children)
    if node.type == 'ERROR' or node.is_missing:
        print(f'line {node.start_point.row + 1}: {node.text.decode()[:60]}')
`;

/** Returns the syntax errors of a PowerShell script, one a line. The script is not run. */
export async function faultsOfPowerShell(script: string): Promise<string> {
  return await runPython(['-c', PARSER], script);
}

async function toolsFolder(): Promise<string> {
  const folder = await pythonTools.find();
  if (folder === undefined)
    throw new Error('The Python tools are not there: npm run test:extended installs them');
  return folder;
}

async function runPython(args: readonly string[], input = ''): Promise<string> {
  const child = spawn('python3', args, { env: { ...process.env, PYTHONPATH: await toolsFolder() } });
  child.stdin.end(input);
  const [output, errors, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  const all = `${output}${errors}`.trim();
  return status === 0 ? all : all || `python3 ended with ${status}`;
}
