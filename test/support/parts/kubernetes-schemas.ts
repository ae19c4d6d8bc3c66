import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { findKubernetesSchemas } from '../../../scripts/parts/kubernetes-schemas.ts';

/**
 * Holds the manifests of a file against the schemas of that version of Kubernetes, in which no property is allowed that it
 * does not know; what is wrong with them, or nothing. Kinds that are not Kubernetes' own have no schema and must not be there.
 */
export async function faultsOfManifests(file: string, version: string): Promise<string> {
  const folder = await findKubernetesSchemas();
  if (folder === undefined) throw new Error('The schemas are not there: npm run test:extended installs them');
  const program = join(folder, 'bin', 'kubernetes-validate');
  const args = [program, '--strict', '--quiet', '--kubernetes-version', version, file];
  const env = { ...process.env, PYTHONPATH: folder };
  return await new Promise((resolve) => {
    execFile('python3', args, { env }, (error, stdout, stderr) => {
      const output = `${stdout}${stderr}`.trim();
      resolve(error === null ? output : output || error.message);
    });
  });
}
