import { parse } from 'yaml';
import { usageError } from '../../../errors/cli-error.ts';
import { receiverUrl } from '../../events/forward.ts';

/** The faults of a scenario, as numbers of deliveries. */
export type Scenario = {
  readonly to: URL;
  /** URL that responds with the ids of the handled events, as a JSON list in order. */
  readonly handled: URL | undefined;
  readonly room: string;
  /** Number of participants who join and leave. */
  readonly people: number;
  /** Duration of the whole scenario. */
  readonly seconds: number;
  /** Number of events that are sent twice at once. */
  readonly duplicates: number;
  /** Number of pairs of neighbours in reverse order. */
  readonly reordered: number;
  /** Number of events whose retry follows all others. */
  readonly late: number;
  /** Number of correctly signed deliveries that are ten minutes old. */
  readonly old: number;
  /** Number of deliveries that are signed with another secret. */
  readonly forged: number;
};

type Counts = Omit<Scenario, 'to' | 'handled' | 'room'>;

/** The default: a class of thirty in ten seconds. */
const CLASS: Counts = { people: 30, seconds: 10, duplicates: 6, reordered: 6, late: 3, old: 3, forged: 3 };
const LIMITS: Readonly<Record<keyof Counts, readonly [least: number, most: number]>> = {
  people: [1, 1000],
  seconds: [0, 600],
  duplicates: [0, 1000],
  reordered: [0, 1000],
  late: [0, 1000],
  old: [0, 1000],
  forged: [0, 1000],
};
const TEXTS = ['to', 'handled', 'room'] as const;

/**
 * Parses a scenario in YAML or JSON; missing values are those of a class of thirty.
 *
 * @param to the receiver, which overrides that of the file
 */
export function readScenario(text: string, to: URL | undefined): Scenario {
  const given = parseObject(text);
  const known = [...TEXTS, ...Object.keys(LIMITS)];
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw usageError(
      `the scenario has unknown fields: ${unknown.join(', ')}`,
      `known fields are ${known.join(', ')}`,
    );
  }
  const receiver = to ?? urlOf(given, 'to');
  if (receiver === undefined) {
    throw usageError('the scenario names no receiver', 'add to: http://localhost:4000/hook, or --to');
  }
  const count = (name: keyof Counts): number => countOf(given, name);
  return {
    to: receiver,
    handled: urlOf(given, 'handled'),
    room: textOf(given, 'room') ?? 'class',
    people: count('people'),
    seconds: count('seconds'),
    duplicates: count('duplicates'),
    reordered: count('reordered'),
    late: count('late'),
    old: count('old'),
    forged: count('forged'),
  };
}

type Given = Readonly<Record<string, unknown>>;

function parseObject(text: string): Given {
  let value: unknown;
  try {
    value = parse(text) ?? {};
  } catch (error) {
    throw usageError(`the scenario is not well-formed YAML: ${firstLine(error)}`, EXAMPLE);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw usageError('the scenario is not a mapping of names to values', EXAMPLE);
}

const EXAMPLE = 'write one name and value per line, such as people: 30; see rtc webhooks simulate --help';

function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split('\n', 1)[0] ?? '';
}

function textOf(given: Given, name: (typeof TEXTS)[number]): string | undefined {
  const value = given[name];
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  if (typeof value === 'number') return String(value);
  throw usageError(`${name} of the scenario is not a text`, EXAMPLE);
}

function urlOf(given: Given, name: 'to' | 'handled'): URL | undefined {
  const text = textOf(given, name);
  return text === undefined ? undefined : receiverUrl(text);
}

function countOf(given: Given, name: keyof Counts): number {
  const value = given[name] ?? CLASS[name];
  const [least, most] = LIMITS[name];
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw usageError(`${name} of the scenario is not a whole number from ${least} to ${most}`, EXAMPLE);
}
