import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';

/** The properties of a source file that the architecture rules check. */
export type SourceModule = {
  /** Path from the repository's root, with slashes. */
  readonly path: string;
  readonly lineCount: number;
  /** Its imports: static, dynamic, by re-export or by type. Each is a path from the root or a package's name. */
  readonly imports: readonly string[];
  /** The part of `imports` that is loaded with the module. Dynamic imports are not included. */
  readonly staticImports: readonly string[];
  /** Whether it has dynamic imports or requires whose argument is not a literal. They cannot be checked. */
  readonly hasUnknownImports: boolean;
  readonly hasDefaultExport: boolean;
  /** Whether importing it has side effects. */
  readonly hasSideEffects: boolean;
  /** The used members of `process`, such as `exit` and `env`. */
  readonly processMembers: ReadonlySet<string>;
  /** The names of the members that it reads: a method that is passed on counts like one that is called. */
  readonly readMembers: ReadonlySet<string>;
};

/** Reads every module below the folders, by path. */
export function readSourceModules(root: string, folders: readonly string[]): readonly SourceModule[] {
  return folders
    .flatMap((folder) => listFiles(join(root, folder)))
    .map((file) => relative(root, file).split(sep).join('/'))
    .filter((path) => /\.(tsx?|js|mjs)$/.test(path) && !path.endsWith('.d.ts'))
    .sort()
    .map((path) => parseModule(path, readFileSync(join(root, path), 'utf8')));
}

/** Parses a module. Throws if the source has a syntax error. */
export function parseModule(path: string, source: string): SourceModule {
  const { program, errors } = parseSync(path, source, { sourceType: 'module' });
  const [error] = errors;
  if (error !== undefined) throw new Error(`${path}: ${error.message}`);
  const found = collect(program);
  return {
    path,
    lineCount: source.replace(/\n$/, '').split('\n').length,
    imports: resolveAll(path, [...found.staticRequests, ...found.lazyRequests]),
    staticImports: resolveAll(path, found.staticRequests),
    hasUnknownImports: found.hasUnknownImports,
    hasDefaultExport: found.hasDefaultExport,
    hasSideEffects: program.body.some((statement) => SIDE_EFFECT_STATEMENTS.has(statement.type)),
    processMembers: found.processMembers,
    readMembers: found.readMembers,
  };
}

/**
 * Statements with side effects at a module's top level. `if (import.meta.main)` belongs to scripts, for which this is not
 * checked.
 */
const SIDE_EFFECT_STATEMENTS = new Set([
  'ExpressionStatement',
  'IfStatement',
  'ForStatement',
  'ForOfStatement',
  'ForInStatement',
  'WhileStatement',
  'DoWhileStatement',
  'TryStatement',
  'ThrowStatement',
]);

type RequestNode = { readonly type: string; readonly value?: unknown };
type Program = ReturnType<typeof parseSync>['program'];

function collect(program: Program) {
  const staticRequests: string[] = [];
  const lazyRequests: string[] = [];
  const processMembers = new Set<string>();
  const readMembers = new Set<string>();
  let hasUnknownImports = false;
  let hasDefaultExport = false;
  const take = (requests: string[], source: RequestNode | null | undefined): void => {
    if (source == null) return;
    if (source.type === 'Literal' && typeof source.value === 'string') requests.push(source.value);
    else hasUnknownImports = true;
  };
  new Visitor({
    ImportDeclaration(node) {
      take(staticRequests, node.source);
      if (/^(node:)?process$/.test(node.source.value)) {
        for (const part of node.specifiers) {
          if (part.type === 'ImportSpecifier')
            processMembers.add('name' in part.imported ? part.imported.name : part.imported.value);
        }
      }
    },
    ExportAllDeclaration: (node) => take(staticRequests, node.source),
    ExportNamedDeclaration(node) {
      take(staticRequests, node.source);
      if (node.specifiers.some(({ exported }) => 'name' in exported && exported.name === 'default'))
        hasDefaultExport = true;
    },
    ExportDefaultDeclaration() {
      hasDefaultExport = true;
    },
    ImportExpression: (node) => take(lazyRequests, node.source),
    TSImportType: (node) => take(staticRequests, node.source),
    CallExpression(node) {
      const { callee } = node;
      const isRequire = callee.type === 'Identifier' && callee.name === 'require';
      if (isRequire) take(lazyRequests, node.arguments[0]);
    },
    MemberExpression(node) {
      const named = node.property.type === 'Identifier' && !node.computed ? node.property.name : undefined;
      if (named !== undefined) readMembers.add(named);
      if (!isProcess(node.object)) return;
      if (named !== undefined) processMembers.add(named);
      else if (node.property.type === 'Literal') processMembers.add(String(node.property.value));
      else processMembers.add('(computed)');
    },
    VariableDeclarator(node) {
      const { id, init } = node;
      if (init?.type !== 'Identifier' || init.name !== 'process' || id.type !== 'ObjectPattern') return;
      for (const part of id.properties) {
        if (part.type === 'Property' && part.key.type === 'Identifier') processMembers.add(part.key.name);
      }
    },
  }).visit(program);
  return { staticRequests, lazyRequests, processMembers, readMembers, hasUnknownImports, hasDefaultExport };
}

function isProcess(node: {
  readonly type: string;
  readonly name?: unknown;
  readonly property?: unknown;
}): boolean {
  if (node.type === 'Identifier') return node.name === 'process';
  return node.type === 'MemberExpression' && (node.property as { name?: unknown }).name === 'process';
}

function resolveAll(path: string, requests: readonly string[]): readonly string[] {
  return [...new Set(requests.map((request) => resolveRequest(path, request)))].sort();
}

/** Resolves a relative import to a path from the root. For a package, returns its name without a path inside it. */
function resolveRequest(from: string, request: string): string {
  if (request.startsWith('.')) return join(dirname(from), request).split(sep).join('/');
  if (request.startsWith('node:')) return request;
  return request
    .split('/')
    .slice(0, request.startsWith('@') ? 2 : 1)
    .join('/');
}

function listFiles(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? listFiles(path) : [path];
  });
}

/**
 * Returns each import cycle once, as the paths that lead back to the first one. Type imports count, because they also
 * couple modules. Lazy imports do not count, because they are the way to break a cycle.
 */
export function importCycles(modules: readonly SourceModule[]): readonly (readonly string[])[] {
  const importsOf = new Map(modules.map((module) => [module.path, module.staticImports]));
  const done = new Set<string>();
  const cycles: string[][] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) cycles.push([...trail.slice(start), path]);
    if (start >= 0 || done.has(path)) return;
    for (const imported of importsOf.get(path) ?? []) {
      if (importsOf.has(imported)) visit(imported, [...trail, path]);
    }
    done.add(path);
  };
  for (const path of importsOf.keys()) visit(path, []);
  return cycles;
}
