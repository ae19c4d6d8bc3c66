import { useQuery } from '@tanstack/react-query';
import { Fragment } from 'react';
import type { Explanation, Moment, NextStep, SubjectKind } from '../../../explain/explanation.ts';
import { explainSubject } from '../../../explain/subjects.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { CommandLine, writeCommand } from '../parts/command-line.tsx';
import { Problem, sentence } from '../parts/problem.tsx';
import { Clock } from '../parts/time.tsx';
import { Empty, Loading, View } from '../parts/view.tsx';

type Subject = { readonly kind: SubjectKind; readonly id: string };

/** The view shows the timeline of `rtc explain` for a room, session, recording, delivery or request. */
export function ExplainView({ kind, id }: Subject) {
  const { data, error, refetch } = useQuery({
    queryKey: [...KEYS.explanations(), kind, id],
    queryFn: ({ signal }) => explainSubject({ client, signal }, { kind, id }, Date.now()),
  });
  return (
    <View
      title="What happened?"
      note={`${kind} ${id}`}
      // The name of a room may look like an option.
      command={writeCommand('explain', '--as', kind, id.startsWith('-') ? '--' : undefined, id)}
    >
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading />}
      {data !== undefined && 'missing' in data && (
        <Empty title={sentence(data.missing)}>
          <p>{sentence(data.next)}</p>
        </Empty>
      )}
      {data !== undefined && 'headline' in data && <Explained explanation={data} />}
    </View>
  );
}

function Explained({ explanation }: { readonly explanation: Explanation }) {
  const { headline, timeline, troubles, next } = explanation;
  return (
    <>
      <p className="headline">
        <WithTimes text={headline} />
      </p>
      <Troubles troubles={troubles} next={next} />
      <section aria-labelledby="timeline-title">
        <h2 id="timeline-title">
          Timeline <span className="count">{timeline.length.toLocaleString()}</span>
        </h2>
        {timeline.length === 0 ? (
          <p className="faint">Nothing is stored of it.</p>
        ) : (
          <ol className="timeline">
            {numberMoments(timeline).map(({ key, moment }) => (
              <li key={key} className={moment.isTrouble ? 'moment moment-trouble' : 'moment'}>
                <Clock at={moment.at} />
                <span>
                  {moment.isTrouble && <b>Wrong: </b>}
                  <WithTimes text={moment.text} />
                </span>
              </li>
            ))}
          </ol>
        )}
      </section>
    </>
  );
}

/** Texts have instants as programs read them; people read their own time. */
function WithTimes({ text }: { readonly text: string }) {
  let end = 0;
  const parts = [...text.matchAll(INSTANT)].map(({ 0: at, index }) => {
    const before = text.slice(end, index);
    end = index + at.length;
    return (
      <Fragment key={index}>
        {before}
        <Clock at={at} />
      </Fragment>
    );
  });
  return (
    <>
      {parts}
      {text.slice(end)}
    </>
  );
}

const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

type TroublesProps = { readonly troubles: readonly string[]; readonly next: readonly NextStep[] };

/** The view shows what is wrong, and the steps to take. */
function Troubles({ troubles, next }: TroublesProps) {
  return (
    <>
      {troubles.length > 0 && (
        <div className="problem">
          <ul className="plain-troubles">
            {troubles.map((trouble) => (
              <li key={trouble}>
                <WithTimes text={sentence(trouble)} />
              </li>
            ))}
          </ul>
        </div>
      )}
      {next.length > 0 && (
        <section aria-labelledby="next-title">
          <h2 id="next-title">What to do</h2>
          <ol className="next-steps">
            {next.map(({ text, command }) => (
              <li key={command ?? text}>
                <span>{sentence(text)}</span>
                {command !== null && <CommandLine command={command} />}
              </li>
            ))}
          </ol>
        </section>
      )}
    </>
  );
}

/** Two moments may have the same text and instant. */
function numberMoments(timeline: readonly Moment[]) {
  return timeline.map((moment, index) => ({ key: `${moment.at} ${index}`, moment }));
}
