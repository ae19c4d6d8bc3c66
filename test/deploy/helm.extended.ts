import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { SETTINGS } from '../../src/server/app/config/settings.ts';
import { runHelm } from '../support/parts/helm.ts';
import { faultsOfManifests } from '../support/parts/python-tools.ts';

/* Helm lints and renders the chart, and Kubernetes' own schemas validate the result. No cluster is needed. */

const CHART = join(import.meta.dirname, '../../deploy/helm/rtc-service');

/** The oldest version that the chart supports. Otherwise Helm assumes the version of its own build. */
const KUBERNETES = ['--kube-version', '1.25.0'];

type Manifest = {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas?: number;
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly template?: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: PodSpec;
    };
  };
};
type PodSpec = {
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly {
    readonly image: string;
    readonly args: readonly string[];
    readonly env: readonly { readonly name: string; readonly value: string }[];
    readonly securityContext: unknown;
  }[];
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-helm-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function template(values: object = {}): Promise<string> {
  const file = join(folder, 'values.json');
  await writeFile(file, JSON.stringify(values));
  return await runHelm('template', 'rooms', CHART, ...KUBERNETES, '--values', file);
}

async function render(values: object = {}): Promise<readonly Manifest[]> {
  return parseAllDocuments(await template(values))
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

const named = (manifests: readonly Manifest[], kind: string, name = 'rooms-rtc-service'): Manifest =>
  manifests.find((one) => one.kind === kind && one.metadata.name === name) ?? expect.unreachable(name);

describe('the chart', () => {
  it('is accepted by helm lint', async () => {
    expect(await runHelm('lint', '--strict', CHART)).toContain('0 chart(s) failed');
  });

  it('runs several instances behind one address, with a budget for their disruption', async () => {
    const manifests = await render();
    expect(manifests.map(({ kind }) => kind).toSorted()).toEqual([
      'Deployment',
      'PodDisruptionBudget',
      'Service',
      'ServiceAccount',
    ]);
    const { spec } = named(manifests, 'Deployment');
    expect(spec.replicas).toBe(2);
    expect(spec.template?.metadata.labels).toMatchObject(spec.selector?.matchLabels ?? {});
    expect(spec.template?.spec.terminationGracePeriodSeconds).toBe(30);
    expect(spec.template?.spec.containers[0]?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('sets only existing settings, and each secret by its file', async () => {
    const manifests = await render();
    const env = named(manifests, 'Deployment').spec.template?.spec.containers[0]?.env ?? [];
    const names = env.map(({ name }) => name);
    for (const name of names) expect(Object.keys(SETTINGS)).toContain(name.replace(/_FILE$/, ''));
    for (const name of ['API_SECRET', 'LIVEKIT_API_SECRET', 'DATABASE_URL', 'ENCRYPTION_KEY']) {
      expect(names).not.toContain(name);
      expect(env.find((one) => one.name === `${name}_FILE`)?.value).toBe(`/run/secrets/rtc/${name}`);
    }
  });

  it('starts workers, scrapes metrics and restricts the network on request', async () => {
    const manifests = await render({
      workers: { 'stt-live': { replicas: 2 }, 'stt-post': { replicas: 1 } },
      metrics: { serviceMonitor: { enabled: true, labels: { release: 'prometheus' } } },
      networkPolicy: { enabled: true, scrapers: [{ namespaceSelector: {} }] },
    });
    const live = named(manifests, 'Deployment', 'rooms-rtc-service-stt-live').spec;
    expect(live.replicas).toBe(2);
    expect(live.template?.spec.containers[0]?.args).toEqual(['worker', 'stt-live']);
    expect(live.template?.metadata.labels).toMatchObject(live.selector?.matchLabels ?? {});
    expect(named(manifests, 'ServiceMonitor').spec).toMatchObject({
      endpoints: [{ relabelings: [{ replacement: 'rtc-service' }, { replacement: 'rtc-worker' }] }],
    });
    expect(named(manifests, 'NetworkPolicy').spec).toMatchObject({
      ingress: [
        { from: [{ podSelector: {} }], ports: [{ port: 'http' }] },
        { from: [{ namespaceSelector: {} }], ports: [{ port: 'metrics' }] },
      ],
    });
  });

  it('keeps one instance on a SQLite file, without another one beside it', async () => {
    const secrets = { DATABASE_URL: null, ENCRYPTION_KEY: null };
    const manifests = await render({ replicas: 1, secrets, persistence: { enabled: true } });
    expect(named(manifests, 'Deployment').spec).toMatchObject({ strategy: { type: 'Recreate' } });
    named(manifests, 'PersistentVolumeClaim');
    await expect(render({ secrets })).rejects.toThrow('several replicas share a database');
  });

  it('uses the digest of an image if it is given, else only its tag', async () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const readImage = async (values: object): Promise<string | undefined> =>
      named(await render(values), 'Deployment').spec.template?.spec.containers[0]?.image;
    expect(await readImage({ image: { tag: '1.2.3' } })).toBe('rtc-service:1.2.3');
    expect(await readImage({ image: { tag: '1.2.3', digest } })).toBe(`rtc-service:1.2.3@${digest}`);
    await expect(render({ image: { digest: 'latest' } })).rejects.toThrow('/image/digest');
  });

  it('refuses contradictory values', async () => {
    await expect(render({ replica: 3 })).rejects.toThrow("additional properties 'replica' not allowed");
    await expect(render({ settings: { PORT: '1' } })).rejects.toThrow('PORT');
    await expect(render({ secrets: { ENCRYPTION_KEY: null } })).rejects.toThrow('ENCRYPTION_KEY');
  });

  // A ServiceMonitor belongs to the Prometheus operator, whose schemas are not in a package registry.
  const ALL_BUT_SERVICE_MONITOR = {
    image: { repository: 'registry.example.org/rtc-service', digest: `sha256:${'a'.repeat(64)}` },
    imagePullSecrets: [{ name: 'registry' }],
    workers: { 'stt-live': { replicas: 2 }, 'stt-post': { replicas: 1 } },
    networkPolicy: { enabled: true, callers: [{ podSelector: {} }], scrapers: [{ namespaceSelector: {} }] },
    podAnnotations: { 'example.org/team': 'media' },
    tolerations: [{ key: 'media', operator: 'Exists' }],
    nodeSelector: { disk: 'fast' },
  };
  const ON_A_FILE = {
    replicas: 1,
    secrets: { DATABASE_URL: null, ENCRYPTION_KEY: null },
    persistence: { enabled: true, storageClass: 'fast' },
  };

  it.each(
    ['1.25.0', '1.37.0'].flatMap((version) => [
      { version, name: 'as it comes', values: {} },
      { version, name: 'with everything on', values: ALL_BUT_SERVICE_MONITOR },
      { version, name: 'on a SQLite file', values: ON_A_FILE },
    ]),
  )('is accepted by Kubernetes $version, $name', async ({ version, values }) => {
    const file = join(folder, 'manifests.yaml');
    await writeFile(file, await template(values));
    expect(await faultsOfManifests(file, version)).toBe('');
  });

  it('is rejected by the schemas if a property is misspelt', async () => {
    const file = join(folder, 'manifests.yaml');
    await writeFile(file, (await template()).replace('serviceAccountName:', 'serviceAcountName:'));
    expect(await faultsOfManifests(file, '1.37.0')).toContain('serviceAcountName');
  });

  it('has the version of package.json', async () => {
    const { version } = JSON.parse(await readFile(join(CHART, '../../../package.json'), 'utf8')) as {
      version: string;
    };
    expect(await readFile(join(CHART, 'Chart.yaml'), 'utf8')).toContain(`appVersion: '${version}'`);
  });
});
