import type { EventType } from '../../../../contract/event-names.ts';
import type { Event } from '../../../../contract/events.ts';
import { sampleEvent } from '../sample-events.ts';
import type { Scenario } from './scenario.ts';

/** `genuine` deliveries must be accepted, even when they are repeated or late; the others must be refused. */
export type Kind = 'genuine' | 'old' | 'forged';

export type PlannedDelivery = { readonly kind: Kind; readonly event: Event };

/** Deliveries that are sent at once, after the responses to the previous ones. */
export type Step = readonly PlannedDelivery[];

export type PlanDeps = { readonly nowMs: number; readonly nextId: () => string };

/** Plans the steps of a scenario, the same each time except for ids and times. */
export function planDeliveries(scenario: Scenario, deps: PlanDeps): readonly Step[] {
  const events = classOf(scenario, deps);
  const ordered = moveToEnd(swapNeighbours(events, scenario.reordered), scenario.late);
  const twice = new Set(spread(ordered.length, scenario.duplicates));
  const steps = ordered.map((event, index): Step => {
    const delivery: PlannedDelivery = { kind: 'genuine', event };
    return twice.has(index) ? [delivery, delivery] : [delivery];
  });
  const fakes = [
    ...fakesOf('forged', scenario.forged, { scenario, deps, next: events.length + 1 }),
    ...fakesOf('old', scenario.old, { scenario, deps, next: events.length + 1 + scenario.forged }),
  ];
  const places = spread(steps.length, fakes.length);
  return steps.flatMap((step, index): readonly Step[] => {
    const here = fakes.filter((_, n) => places[n] === index);
    return [step, ...here.map((fake): Step => [fake])];
  });
}

/** Events in which everyone joins, and everyone leaves. */
function classOf({ room, people }: Scenario, deps: PlanDeps): readonly Event[] {
  const students = Array.from({ length: people }, (_, index) => index + 1);
  const occurrences: readonly (readonly [EventType, number])[] = [
    ['room_created', 0],
    ['room_started', 0],
    ...students.map((student) => ['participant_joined', student] as const),
    ...students.map((student) => ['participant_left', student] as const),
    ['room_finished', 0],
  ];
  const session = `RM_${deps.nextId()}`;
  return occurrences.map(([type, student], index) =>
    numbered(sampleEvent({ type, room, nowMs: deps.nowMs, id: deps.nextId() }), {
      session,
      student,
      sequence: index + 1,
    }),
  );
}

type Numbers = { readonly session: string; readonly student: number; readonly sequence: number };

function numbered(event: Event, { session, student, sequence }: Numbers): Event {
  const room = event.room === null ? {} : { room: { ...event.room, id: session } };
  const identity = `student-${student}`;
  const who = { sid: `PA_${session.slice(3, 11)}${student}`, identity, name: `Student ${student}` };
  const participant =
    event.participant === undefined ? {} : { participant: { ...event.participant, ...who } };
  return Object.assign({}, event, room, participant, { sequence });
}

type Faking = { readonly scenario: Scenario; readonly deps: PlanDeps; readonly next: number };

/** Forged events: a receiver that handles one of them trusted its sender. */
function fakesOf(kind: 'old' | 'forged', count: number, { scenario, deps, next }: Faking) {
  const { room } = scenario;
  return Array.from({ length: count }, (_, index): PlannedDelivery => {
    const event = sampleEvent({ type: 'room_finished', room, nowMs: deps.nowMs, id: deps.nextId() });
    return { kind, event: Object.assign({}, event, { sequence: next + index }) };
  });
}

function swapNeighbours(events: readonly Event[], pairs: number): readonly Event[] {
  const swapped = [...events];
  const halves = Math.floor(events.length / 2);
  for (const half of spread(halves, pairs)) {
    const [first, second] = [events[half * 2], events[half * 2 + 1]];
    if (first !== undefined && second !== undefined) swapped.splice(half * 2, 2, second, first);
  }
  return swapped;
}

function moveToEnd(events: readonly Event[], count: number): readonly Event[] {
  const late = new Set(spread(events.length, count));
  const isLate = (_: Event, index: number): boolean => late.has(index);
  return [...events.filter((event, index) => !isLate(event, index)), ...events.filter(isLate)];
}

/** Returns at most `count` positions among `length`, as far apart as possible. */
function spread(length: number, count: number): readonly number[] {
  const places = Math.min(length, count);
  return Array.from({ length: places }, (_, index) => Math.floor(((index + 0.5) * length) / places));
}
